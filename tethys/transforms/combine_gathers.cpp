#include "transforms/combine_gathers.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "ir/clone.h"
#include "ops/collective/collective.h"
#include "ops/elementwise/convert.h"
#include "ops/registry.h"
#include "ops/shape/shape.h"

namespace tethys {
namespace {

// "layers.3.attention.wq" is of block "layers.3"; what is in no block is its own.
std::string block_of(const std::string& scope) {
  size_t begin = 0;
  while (begin < scope.size()) {
    const size_t end = std::min(scope.find('.', begin), scope.size());
    const bool number = std::all_of(scope.begin() + static_cast<int64_t>(begin),
                                    scope.begin() + static_cast<int64_t>(end), [](char c) { return std::isdigit(c); });
    if (number) return scope.substr(0, end);
    begin = end + 1;
  }
  return scope;
}

class Combination {
 public:
  Combination(const Graph& source, const Mesh& mesh) : source_(source), mesh_(mesh) { find_groups(); }

  std::shared_ptr<Graph> run() {
    return rewritten(source_, [&](NodeId n, Graph& target, ValueMap& map) {
      if (const auto group = groups_.find(n); group != groups_.end() && group->second.size() > 1)
        gather(group->second, target, map);
      else if (!member_.contains(n))
        clone(n, target, map);
    });
  }

 private:
  void clone(NodeId n, Graph& target, ValueMap& map) {
    Regions regions;
    for (const auto& region : source_.node(n).regions) regions.push_back(Combination(*region, mesh_).run());
    clone_node(source_, n, target, map, std::move(regions));
  }

  // What a gather begins from, before the casts on the way to it.
  ValueId root_of(NodeId gather) const {
    ValueId v = source_.node(gather).operands[0];
    while (source_.producer(v).op == &convert_op) v = source_.producer(v).operands[0];
    return v;
  }

  // A gather joins the last group of its kind if its root is there already where that group is gathered.
  void find_groups() {
    std::map<std::tuple<Dims, DType, std::string>, NodeId> open;
    for (NodeId n = 0; n < source_.node_count(); ++n) {
      const Node& node = source_.node(n);
      if (node.op != &all_gather_op || !collective_attributes(node.attributes).of_parameter) continue;
      const DType dtype = source_.type(node.results[0]).dtype;
      NodeId& first =
          open.try_emplace({collective_attributes(node.attributes).axes, dtype, block_of(node.scope)}, n).first->second;
      if (source_.info(root_of(n)).node >= first) first = n;
      groups_[first].push_back(n);
      if (first != n) member_.insert(n);
    }
  }

  // The operand of a member where it may not have been reached yet: its casts are made again.
  Value operand_of(NodeId gather, const ValueMap& map) const {
    std::vector<ValueId> casts;
    for (ValueId v = source_.node(gather).operands[0]; source_.producer(v).op == &convert_op;
         v = source_.producer(v).operands[0])
      casts.push_back(v);
    Value x = map[root_of(gather)];
    require(x.id >= 0, "a gather of %{}, which is not there yet", root_of(gather));
    for (; !casts.empty(); casts.pop_back()) x = convert(x, source_.type(casts.back()).dtype);
    return x;
  }

  void gather(const std::vector<NodeId>& members, Graph& target, ValueMap& map) const {
    const Node& first = source_.node(members[0]);
    const CollectiveAttributes& attributes = collective_attributes(first.attributes);
    target.set_scope(block_of(first.scope));
    std::vector<Value> flat, parts;
    for (const NodeId n : members) {
      parts.push_back(operand_of(n, map));
      flat.push_back(reshape(parts.back(), {parts.back().type().elements()}));
    }
    const Value all = concatenate(flat, 0);
    const int64_t ranks = attributes.group_size;
    const Value gathered = reshape(all_gather(all, mesh_, attributes.axes, 0, true), {ranks, all.type().elements()});
    int64_t at = 0;
    for (size_t i = 0; i < members.size(); ++i) {
      const int64_t size = flat[i].type().elements();
      const Node& node = source_.node(members[i]);
      const int64_t dim = collective_attributes(node.attributes).dim;
      map[node.results[0]] = joined(slice_dim(gathered, 1, at, at + size), parts[i].dims(), dim);
      at += size;
    }
    target.set_scope("");
  }

  // One member's pieces, [ranks, elements], joined along `dim`.
  static Value joined(Value pieces, const Dims& piece, int64_t dim) {
    const int64_t ranks = pieces.dims()[0];
    Dims apart = piece;
    apart.insert(apart.begin(), ranks);
    Dims order;  // the ranks in front of the dimension
    for (int64_t d = 0; d < static_cast<int64_t>(piece.size()); ++d) {
      if (d == dim) order.push_back(0);
      order.push_back(d + 1);
    }
    Dims whole = piece;
    whole[dim] *= ranks;
    return reshape(transpose(reshape(pieces, apart), order), whole);
  }

  const Graph& source_;
  const Mesh& mesh_;
  std::map<NodeId, std::vector<NodeId>> groups_;  // by the first of each
  std::set<NodeId> member_;                       // all but the first
};

}  // namespace

std::shared_ptr<Graph> combine_gathers(const Graph& local, const Mesh& mesh) { return Combination(local, mesh).run(); }

}  // namespace tethys
