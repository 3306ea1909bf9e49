#include "transforms/redistribute.h"

#include <algorithm>

#include "ops/collective/collective.h"
#include "ops/collective/part.h"
#include "ops/elementwise/compare.h"
#include "ops/elementwise/convert.h"
#include "ops/elementwise/select.h"
#include "ops/registry.h"
#include "ops/shape/shape.h"
#include "ops/shape/splat.h"

namespace tethys {
namespace {

// One move, step by step. `now_` says along each axis what has been reached; a dimension's axes are undone from the
// minor one and done again from there, since a piece of a piece is only contiguous in that order.
class Move {
 public:
  Move(Value local, const Layout& from, const Layout& to, const Mesh& mesh, bool of_parameter)
      : x_(local), from_(from), to_(to), mesh_(mesh), of_parameter_(of_parameter), now_(from.placement) {
    for (int64_t d = 0; d < from.type.rank(); ++d) {
      const Dims before = cutting_axes(from.placement, d, mesh);
      const Dims after = cutting_axes(to.placement, d, mesh);
      size_t kept = 0;
      if (from.type.dims[d] == to.type.dims[d]) {
        while (kept < before.size() && kept < after.size() && before[kept] == after[kept]) ++kept;
      }
      undo_.emplace_back(before.begin() + static_cast<int64_t>(kept), before.end());
      redo_.emplace_back(after.begin() + static_cast<int64_t>(kept), after.end());
    }
    for (int64_t a = 0; a < mesh.rank(); ++a) {
      if (mesh.axes()[a].size == 1) now_[a] = to.placement[a];
    }
  }

  Value run() {
    const bool widens = promote(from_.type.dtype, to_.type.dtype) == to_.type.dtype;
    const bool sums = has_partial(now_);
    if (widens == sums) x_ = convert(x_, to_.type.dtype);
    exchange();
    for (size_t d = 0; d < undo_.size(); ++d) {
      if (!redo_[d].empty() || resized(d) || moves(undo_[d])) gather(d);
    }
    resize();
    for (size_t d = 0; d < redo_.size(); ++d) scatter(d);
    reduce();
    if (!widens) x_ = convert(x_, to_.type.dtype);
    for (size_t d = 0; d < undo_.size(); ++d) gather(d);
    spread();
    x_ = convert(x_, to_.type.dtype);
    require(now_ == to_.placement, "redistribute from {} ended at {} and not at {}", to_string(from_.placement),
            to_string(now_), to_string(to_.placement));
    return x_;
  }

 private:
  Graph& graph() const { return *x_.graph; }
  bool resized(size_t d) const { return from_.type.dims[d] != to_.type.dims[d]; }

  // Whether one of the axes goes on to cut another dimension.
  bool moves(const Dims& axes) const {
    return std::any_of(axes.begin(), axes.end(), [&](int64_t a) { return to_.placement[a].is_shard(); });
  }

  void set(const Dims& axes, AxisPlacement placement) {
    for (int64_t a : axes) now_[a] = placement;
  }

  // An axis that leaves one dimension for another, as the minor one of both, needs no gather.
  void exchange() {
    for (size_t d = 0; d < undo_.size(); ++d) {
      if (undo_[d].size() != 1 || !redo_[d].empty() || resized(d)) continue;
      const int64_t axis = undo_[d][0];
      for (size_t e = 0; e < redo_.size(); ++e) {
        if (redo_[e] != Dims{axis} || !undo_[e].empty() || resized(e)) continue;
        x_ = all_to_all(x_, mesh_, {axis}, static_cast<int64_t>(e), static_cast<int64_t>(d));
        now_[axis] = shard(static_cast<int64_t>(e));
        undo_[d].clear();
        redo_[e].clear();
        break;
      }
    }
  }

  void gather(size_t d) {
    if (undo_[d].empty()) return;
    x_ = all_gather(x_, mesh_, undo_[d], static_cast<int64_t>(d), of_parameter_);
    set(undo_[d], replicate());
    undo_[d].clear();
  }

  // Pads with zeros, cuts the end off. The dimensions concerned are whole by now.
  void resize() {
    Dims high(undo_.size(), 0);
    Dims limit = x_.dims();
    for (size_t d = 0; d < undo_.size(); ++d) {
      if (!resized(d)) continue;
      high[d] = std::max<int64_t>(0, to_.type.dims[d] - from_.type.dims[d]);
      limit[d] = std::min(from_.type.dims[d], to_.type.dims[d]);
    }
    if (limit != x_.dims()) x_ = slice(x_, Dims(limit.size(), 0), limit);
    if (high != Dims(high.size(), 0)) x_ = pad(x_, splat(graph(), {x_.dtype(), {}}, 0), Dims(high.size(), 0), high);
  }

  // Cuts a dimension along its new axes, major first: a slice where the value is whole, a reduce_scatter where it is
  // Partial. Neighbours of one kind go together.
  void scatter(size_t d) {
    const auto dim = static_cast<int64_t>(d);
    const Dims& axes = redo_[d];
    for (size_t i = 0; i < axes.size();) {
      const AxisPlacement was = now_[axes[i]];
      Dims run;
      for (; i < axes.size() && now_[axes[i]] == was; ++i) run.push_back(axes[i]);
      x_ = was.is_partial() ? reduce_scatter(x_, mesh_, run, dim, was.reduction) : own_part(x_, mesh_, run, dim);
      set(run, shard(dim));
    }
    redo_[d].clear();
  }

  // Resolves the Partial axes that do not stay so, one collective for each kind of reduction.
  void reduce() {
    for (const Reduction reduction : {Reduction::Sum, Reduction::Max, Reduction::Min}) {
      Dims axes;
      for (int64_t a = 0; a < mesh_.rank(); ++a) {
        if (now_[a] == partial(reduction) && now_[a] != to_.placement[a]) axes.push_back(a);
      }
      if (axes.empty()) continue;
      x_ = all_reduce(x_, mesh_, axes, reduction);
      set(axes, replicate());
    }
  }

  // A whole value as a sum: the first device has it, the others zeros. As a maximum or minimum: all have it.
  void spread() {
    for (int64_t a = 0; a < mesh_.rank(); ++a) {
      if (!to_.placement[a].is_partial() || now_[a] == to_.placement[a]) continue;
      if (to_.placement[a].reduction == Reduction::Sum) {
        const Value zeros = splat(graph(), x_.type(), 0);
        const Value index = axis_index(graph(), mesh_, a);
        const Value first = equal(index, splat(graph(), index.type(), 0));
        x_ = select(broadcast(first, x_.dims(), {}), x_, zeros);
      }
      now_[a] = to_.placement[a];
    }
  }

  Value x_;
  const Layout& from_;
  const Layout& to_;
  const Mesh& mesh_;
  bool of_parameter_;
  Placement now_;
  std::vector<Dims> undo_, redo_;  // per dimension: the axes to gather, and those to cut along
};

}  // namespace

Value redistribute_local(Value local, const Layout& from, const Layout& to, const Mesh& mesh, bool of_parameter) {
  require(from.type.rank() == to.type.rank(), "redistribute from {} to {}", to_string(from.type), to_string(to.type));
  return Move(local, from, to, mesh, of_parameter).run();
}

}  // namespace tethys
