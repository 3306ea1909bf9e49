#include "transforms/stages.h"

#include <algorithm>
#include <map>
#include <set>

#include "ir/clone.h"
#include "ops/control/scan.h"
#include "ops/control/to_memory.h"
#include "ops/registry.h"
#include "ops/shape/shape.h"
#include "ops/shape/splat.h"
#include "transforms/made_again.h"

namespace tethys {
namespace {

const TensorType kIndex{DType::S32, {}};

bool is_loop(const Node& node) { return node.op->structure == Structure::Loop; }

// How often each value is read, the graph's own outputs included.
std::vector<int64_t> reads_of(const Graph& graph) {
  std::vector<int64_t> reads(graph.value_count());
  for (NodeId n = 0; n < graph.node_count(); ++n) {
    for (ValueId v : graph.node(n).operands) ++reads[v];
  }
  for (ValueId v : graph.outputs()) ++reads[v];
  return reads;
}

// One of a loop's ys that waits in the host's memory, and that nothing but the graph's list of outputs reads.
bool is_streamed_out(const Graph& graph, ValueId v, const std::vector<int64_t>& reads) {
  const Node& node = graph.producer(v);
  if (!is_loop(node) || reads[v] != 1) return false;
  const auto result = static_cast<size_t>(graph.info(v).result);
  if (static_cast<int64_t>(result) < scan_attributes(node.attributes).carries) return false;
  const Graph& region = *node.regions[0];
  const Node& last = region.producer(region.outputs()[result]);
  return last.op == &to_memory_op && memory_of(last.attributes) == Memory::Host;
}

// Nothing but a loop reads the input, as one of its xs.
bool is_streamed_in(const Graph& graph, ValueId input, const std::vector<int64_t>& reads) {
  if (reads[input] != 1) return false;
  for (NodeId n = 0; n < graph.node_count(); ++n) {
    const Node& node = graph.node(n);
    const auto at = std::find(node.operands.begin(), node.operands.end(), input);
    if (at == node.operands.end()) continue;
    if (!is_loop(node)) return false;
    const ScanAttributes& a = scan_attributes(node.attributes);
    return at - node.operands.begin() >= a.consts + a.carries;
  }
  return false;
}

// Cuts the graph in order: what stands before a streaming loop, the loop, and so on.
class Cutter {
 public:
  Cutter(const Localised& graphs, const Mesh& mesh, const Capabilities& capabilities, const Streams& streams)
      : graphs_(graphs), graph_(*graphs.local), placed_(*graphs.placed), mesh_(mesh), capabilities_(capabilities) {
    for (size_t i = 0; i < graph_.inputs().size(); ++i)
      add_port(graph_.inputs()[i], placed_.inputs()[i], placed_.input_name(i));
    for (size_t i = 0; i < graph_.outputs().size(); ++i) add_port(graph_.outputs()[i], placed_.outputs()[i], "");
    for (size_t k = 0; k < streams.inputs.size(); ++k) stream_in_[graph_.inputs()[streams.inputs[k]]] = k;
    for (size_t k = 0; k < streams.outputs.size(); ++k) stream_out_[graph_.outputs()[streams.outputs[k]]] = k;
    for (NodeId n = 0; n < graph_.node_count(); ++n) {
      if (streams_through(graph_.node(n))) loops_.push_back(n);
    }
  }

  Stages run() {
    Stages stages;
    for (ValueId v : graph_.inputs()) {
      if (!stream_in_.contains(v)) stages.inputs.push_back(v);
    }
    for (ValueId v : graph_.outputs()) {
      if (stream_out_.contains(v)) continue;
      stages.outputs.push_back(v);
      stages.output_ports.push_back(ports_.at(v));
    }
    stages.notes = graphs_.notes;
    stages.streams_in = stream_in_.size();
    stages.streams_out = stream_out_.size();
    if (loops_.empty())
      stages.list.emplace_back(whole());
    else
      cut(stages);
    find_last_uses(stages);
    return stages;
  }

 private:
  Straight whole() const {
    Straight straight{make_program(graphs_, mesh_, capabilities_), graph_.inputs(), graph_.outputs()};
    straight.program.notes.clear();  // those are the stages'
    return straight;
  }

  void cut(Stages& stages) const {
    NodeId begin = 0;
    for (NodeId loop : loops_) {
      add_straight(stages, begin, loop);
      stages.list.emplace_back(cut_loop(loop));
      begin = loop + 1;
    }
    add_straight(stages, begin, graph_.node_count());
  }

  void add_port(ValueId local, ValueId placed, std::string name) {
    const ValueInfo& info = placed_.info(placed);
    ports_.try_emplace(local, Port{std::move(name), info.type, info.placement.value_or(replicated(mesh_))});
  }

  bool streams_through(const Node& node) const {
    const auto has = [](const auto& streams) { return [&](ValueId v) { return streams.contains(v); }; };
    return std::any_of(node.operands.begin(), node.operands.end(), has(stream_in_)) ||
           std::any_of(node.results.begin(), node.results.end(), has(stream_out_));
  }

  // What passes between programs of one graph is known by its type on a device alone.
  Program finish(Graph& part, const std::vector<ValueId>& takes, const std::vector<ValueId>& gives,
                 const std::vector<int64_t>& aliases = {}) const {
    const auto own = [](Graph* graph) { return std::shared_ptr<Graph>(graph, [](Graph*) {}); };
    Program program = make_program(Localised{own(&part), own(&part), {}}, mesh_, capabilities_, aliases);
    const auto name = [&](Port& port, ValueId v) {
      const auto known = ports_.find(v);
      if (known != ports_.end()) port = known->second;
    };
    for (size_t i = 0; i < takes.size(); ++i) name(program.inputs[i], takes[i]);
    for (size_t i = 0; i < gives.size(); ++i) name(program.outputs[i], gives[i]);
    return program;
  }

  // What has to be given so that the values can be had: themselves, or, of what is cheap to make again by the nodes
  // `again`, what that is made from. `known` are there.
  template <typename Known>
  std::set<ValueId> roots(const std::vector<ValueId>& values, std::set<NodeId>& again, const Known& known) const {
    std::set<ValueId> result;
    for (std::vector<ValueId> left = values; !left.empty();) {
      const ValueId v = left.back();
      left.pop_back();
      const Node& node = graph_.producer(v);
      if (known(v)) continue;
      if (!is_made_again(node))
        result.insert(v);
      else if (again.insert(graph_.info(v).node).second)
        left.insert(left.end(), node.operands.begin(), node.operands.end());
    }
    return result;
  }

  // The values in `target`, made again or taken.
  void bring(Graph& target, ValueMap& map, std::vector<ValueId>& takes, const std::vector<ValueId>& values) const {
    std::set<NodeId> again;
    for (ValueId v : roots(values, again, [&](ValueId known) { return map[known].graph != nullptr; })) {
      map[v] = target.input(graph_.type(v), fmt::format("value {}", v));
      takes.push_back(v);
    }
    for (NodeId n : again) clone_node(graph_, n, target, map);
  }

  // What the program that the node belongs to takes for it.
  std::set<ValueId> taken_by(NodeId n) const {
    const Node& node = graph_.node(n);
    std::set<NodeId> again;
    const auto nothing = [](ValueId) { return false; };
    if (std::find(loops_.begin(), loops_.end(), n) == loops_.end()) return roots(node.operands, again, nothing);
    const ScanAttributes& a = scan_attributes(node.attributes);
    const auto carries = node.operands.begin() + a.consts;
    std::set<ValueId> taken = roots({carries, carries + a.carries}, again, nothing);
    taken.insert(node.operands.begin(), carries);
    taken.insert(carries + a.carries, node.operands.end());
    return taken;
  }

  // The nodes [begin, end) as a program, if anything comes of them.
  void add_straight(Stages& stages, NodeId begin, NodeId end) const {
    const std::vector<ValueId> gives = given_by(begin, end);
    if (gives.empty()) return;
    Straight straight;
    straight.gives = gives;
    Graph part;
    ValueMap map(graph_.value_count());
    std::vector<ValueId> wanted = gives;
    std::set<ValueId> inside;
    for (NodeId n = begin; n < end; ++n) {
      if (graph_.node(n).op == &input_op) continue;
      inside.insert(graph_.node(n).results.begin(), graph_.node(n).results.end());
      wanted.insert(wanted.end(), graph_.node(n).operands.begin(), graph_.node(n).operands.end());
    }
    std::erase_if(wanted, [&](ValueId v) { return inside.contains(v); });
    bring(part, map, straight.takes, wanted);
    for (NodeId n = begin; n < end; ++n) {
      if (graph_.node(n).op != &input_op) clone_node(graph_, n, part, map);
    }
    std::vector<Value> outputs;
    for (ValueId v : gives) outputs.push_back(map[v]);
    part.set_outputs(outputs);
    straight.program = finish(part, straight.takes, straight.gives);
    stages.list.emplace_back(std::move(straight));
  }

  // Values of the nodes [begin, end) that others need.
  std::vector<ValueId> given_by(NodeId begin, NodeId end) const {
    std::set<ValueId> needed(graph_.outputs().begin(), graph_.outputs().end());
    for (NodeId n = end; n < graph_.node_count(); ++n) needed.merge(taken_by(n));
    std::erase_if(needed, [&](ValueId v) {
      const NodeId node = graph_.info(v).node;
      return node < begin || node >= end || graph_.producer(v).op == &input_op;
    });
    return {needed.begin(), needed.end()};
  }

  Loop cut_loop(NodeId n) const {
    const Node& node = graph_.node(n);
    const ScanAttributes& a = scan_attributes(node.attributes);
    Loop loop;
    loop.length = a.length;
    loop.reverse = a.reverse;
    std::vector<ValueId> results;
    for (size_t i = 0; i < node.results.size(); ++i) {
      const auto stream = stream_out_.find(node.results[i]);
      if (stream == stream_out_.end())
        results.push_back(node.results[i]);
      else
        loop.streams_out.push_back(stream->second);
    }
    loop.begin = beginning(node, a, results);
    Body body(*this, node, a);
    loop.streams_in = body.streams_in;
    loop.reads = body.reads;
    std::vector<ValueId> takes = {-1};
    takes.insert(takes.end(), results.begin(), results.end());
    takes.insert(takes.end(), loop.reads.begin(), loop.reads.end());
    std::vector<int64_t> aliases(body.graph.inputs().size(), -1);
    for (size_t i = 0; i < results.size(); ++i) aliases[i + 1] = static_cast<int64_t>(i);
    loop.body = finish(body.graph, takes, results, aliases);
    return loop;
  }

  // The loop's first carries, as copies that its body may write over, and zeros for its ys.
  Straight beginning(const Node& node, const ScanAttributes& a, const std::vector<ValueId>& results) const {
    Straight begin;
    begin.gives = results;
    Graph part;
    ValueMap map(graph_.value_count());
    const auto carries = node.operands.begin() + a.consts;
    bring(part, map, begin.takes, {carries, carries + a.carries});
    std::vector<Value> outputs;
    for (int64_t i = 0; i < a.carries; ++i) outputs.push_back(map[carries[i]]);
    for (size_t i = static_cast<size_t>(a.carries); i < results.size(); ++i)
      outputs.push_back(splat(part, graph_.type(results[i]), 0));
    part.set_outputs(outputs);
    begin.program = finish(part, begin.takes, begin.gives);
    return begin;
  }

  // One iteration, with its inputs and outputs in the order of Loop.
  struct Body {
    Graph graph;
    std::vector<ValueId> reads;
    std::vector<size_t> streams_in;

    Body(const Cutter& cutter, const Node& node, const ScanAttributes& a) {
      const Graph& whole = cutter.graph_;
      const auto first_x = static_cast<size_t>(a.consts + a.carries);
      const Value index = graph.input(kIndex, "index");
      std::vector<Value> arguments(node.operands.size());
      for (size_t i = static_cast<size_t>(a.consts); i < first_x; ++i)
        arguments[i] = graph.input(whole.type(node.operands[i]), "carry");
      std::vector<size_t> stacked;  // results that are whole ys
      std::vector<Value> stacks;
      for (auto i = static_cast<size_t>(a.carries); i < node.results.size(); ++i) {
        if (cutter.stream_out_.contains(node.results[i])) continue;
        stacked.push_back(i);
        stacks.push_back(graph.input(whole.type(node.results[i]), "stack"));
      }
      take_operands(cutter, node, a, arguments, index);
      const std::vector<Value> out = inline_graph(*node.regions[0], graph, arguments);
      std::vector<Value> outputs(out.begin(), out.begin() + a.carries);
      for (size_t k = 0; k < stacked.size(); ++k) outputs.push_back(written(stacks[k], out[stacked[k]], index));
      for (auto i = static_cast<size_t>(a.carries); i < out.size(); ++i) {
        if (cutter.stream_out_.contains(node.results[i])) outputs.push_back(out[i]);
      }
      graph.set_outputs(outputs);
    }

    // What all iterations read, then the slices that come by stream.
    void take_operands(const Cutter& cutter, const Node& node, const ScanAttributes& a, std::vector<Value>& arguments,
                       Value index) {
      const Graph& whole = cutter.graph_;
      ValueMap map(whole.value_count());
      const auto taken = [&](ValueId v) {
        if (map[v].graph != nullptr) return map[v];
        if (whole.producer(v).op->generator) return map[v] = clone_node(whole, whole.info(v).node, graph, map)[0];
        reads.push_back(v);
        return map[v] = graph.input(whole.type(v), "read");
      };
      const auto first_x = static_cast<size_t>(a.consts + a.carries);
      for (size_t i = 0; i < node.operands.size(); ++i) {
        const bool carry = i >= static_cast<size_t>(a.consts) && i < first_x;
        if (carry || cutter.stream_in_.contains(node.operands[i])) continue;
        const Value value = taken(node.operands[i]);
        arguments[i] = i < first_x ? value : slice_at(value, index);
      }
      for (size_t i = first_x; i < node.operands.size(); ++i) {
        const auto stream = cutter.stream_in_.find(node.operands[i]);
        if (stream == cutter.stream_in_.end()) continue;
        streams_in.push_back(stream->second);
        arguments[i] = graph.input(slice_type(whole.type(node.operands[i])), "slice");
      }
    }

    static Value written(Value stack, Value slice, Value index) {
      std::vector<Value> starts(stack.dims().size(), splat(*stack.graph, kIndex, 0));
      starts[0] = index;
      Dims row = stack.dims();
      row[0] = 1;
      return dynamic_update_slice(stack, reshape(slice, row), starts);
    }
  };

  static void find_last_uses(Stages& stages) {
    std::map<ValueId, size_t> last;
    const auto note = [&](const std::vector<ValueId>& values, size_t stage) {
      for (ValueId v : values) last[v] = stage;
    };
    for (size_t s = 0; s < stages.list.size(); ++s) {
      if (const auto* straight = std::get_if<Straight>(&stages.list[s])) {
        note(straight->takes, s);
        note(straight->gives, s);
        continue;
      }
      const Loop& loop = std::get<Loop>(stages.list[s]);
      note(loop.begin.takes, s);
      note(loop.reads, s);
      note(loop.results(), s);
    }
    for (ValueId v : stages.outputs) last.erase(v);
    stages.last.resize(stages.list.size());
    for (const auto& [value, stage] : last) stages.last[stage].push_back(value);
  }

  const Localised& graphs_;
  const Graph& graph_;
  const Graph& placed_;
  const Mesh& mesh_;
  const Capabilities& capabilities_;
  std::map<ValueId, Port> ports_;  // of the graph's inputs and outputs
  std::map<ValueId, size_t> stream_in_, stream_out_;
  std::vector<NodeId> loops_;
};

}  // namespace

Streams find_streams(const Graph& first, const std::vector<size_t>& outputs, const Graph& second,
                     const std::vector<size_t>& inputs) {
  require(outputs.size() == inputs.size(), "{} outputs for {} inputs", outputs.size(), inputs.size());
  const std::vector<int64_t> first_reads = reads_of(first), second_reads = reads_of(second);
  Streams streams;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!is_streamed_out(first, first.outputs()[outputs[i]], first_reads)) continue;
    if (!is_streamed_in(second, second.inputs()[inputs[i]], second_reads)) continue;
    streams.outputs.push_back(outputs[i]);
    streams.inputs.push_back(inputs[i]);
  }
  return streams;
}

Stages stages_of(const Localised& graphs, const Mesh& mesh, const Capabilities& capabilities, const Streams& streams) {
  return Cutter(graphs, mesh, capabilities, streams).run();
}

}  // namespace tethys
