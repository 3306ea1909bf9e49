#include "transforms/split.h"

#include <fmt/core.h>

#include <set>

#include "ir/clone.h"
#include "transforms/made_again.h"

namespace tethys {
namespace {

class Splitting {
 public:
  Splitting(const Graph& graph, NodeId begin) : graph_(graph), begin_(begin) {
    for (NodeId n = begin; n < graph.node_count(); ++n) {
      for (ValueId v : graph.node(n).operands) need(v);
    }
    for (ValueId v : graph.outputs()) {
      if (is_late(v)) need(v);
    }
  }

  Split run() const {
    Split halves{first(), second(), {}, {}, residuals_.size()};
    for (size_t i = 0; i < graph_.outputs().size(); ++i)
      (is_late(graph_.outputs()[i]) ? halves.second_outputs : halves.first_outputs).push_back(i);
    return halves;
  }

 private:
  bool is_late(ValueId v) const { return graph_.info(v).node >= begin_; }

  // By the second graph.
  void need(ValueId value) {
    for (std::vector<ValueId> left = {value}; !left.empty();) {
      const ValueId v = left.back();
      left.pop_back();
      const Node& producer = graph_.producer(v);
      if (is_late(v) || producer.op == &input_op) continue;
      if (!is_made_again(producer))
        residuals_.insert(v);
      else if (again_.insert(graph_.info(v).node).second)
        left.insert(left.end(), producer.operands.begin(), producer.operands.end());
    }
  }

  ValueMap inputs_of(Graph& target) const {
    ValueMap map(graph_.value_count());
    for (size_t i = 0; i < graph_.inputs().size(); ++i) {
      const ValueInfo& info = graph_.info(graph_.inputs()[i]);
      map[graph_.inputs()[i]] = target.input(info.type, graph_.input_name(i), info.placement);
    }
    return map;
  }

  std::shared_ptr<Graph> first() const {
    auto target = std::make_shared<Graph>();
    ValueMap map = inputs_of(*target);
    for (NodeId n = 0; n < begin_; ++n) {
      if (graph_.node(n).op != &input_op) clone_node(graph_, n, *target, map);
    }
    std::vector<Value> outputs;
    for (ValueId v : graph_.outputs()) {
      if (!is_late(v)) outputs.push_back(map[v]);
    }
    for (ValueId v : residuals_) outputs.push_back(map[v]);
    target->set_outputs(outputs);
    return target;
  }

  std::shared_ptr<Graph> second() const {
    auto target = std::make_shared<Graph>();
    ValueMap map = inputs_of(*target);
    for (ValueId v : residuals_) map[v] = target->input(graph_.type(v), fmt::format("residual {}", v));
    for (NodeId n : again_) clone_node(graph_, n, *target, map);
    for (NodeId n = begin_; n < graph_.node_count(); ++n) clone_node(graph_, n, *target, map);
    std::vector<Value> outputs;
    for (ValueId v : graph_.outputs()) {
      if (is_late(v)) outputs.push_back(map[v]);
    }
    target->set_outputs(outputs);
    return target;
  }

  const Graph& graph_;
  NodeId begin_;
  std::set<ValueId> residuals_;
  std::set<NodeId> again_;  // nodes of the first that the second has too
};

}  // namespace

Split split(const Graph& graph, NodeId begin) { return Splitting(graph, begin).run(); }

}  // namespace tethys
