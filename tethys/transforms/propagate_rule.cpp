#include "transforms/propagate_rule.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"

namespace tethys {
namespace {

class Rule {
 public:
  Rule(const Factors& factors, const std::vector<PlacedOperand>& operands, const Mesh& mesh)
      : factors_(factors), operands_(operands), mesh_(mesh), cuts_(factors.factors.size(), 1) {
    for (const Factor& f : factors.factors) blocked_.push_back(f.kind == FactorKind::Replicate);
    for (const TensorFactors& t : factors.operands) block_minor(t);
    for (const TensorFactors& t : factors.results) block_minor(t);
    placed_.operands.assign(operands.size(), replicated(mesh));
    placed_.results.assign(factors.results.size(), replicated(mesh));
  }

  NodePlacement place() {
    for (int64_t axis = 0; axis < mesh_.rank(); ++axis) {
      if (partial_passes(axis))
        pass_partial(axis);
      else if (const int factor = choose(axis); factor >= 0)
        shard_factor(axis, factor);
    }
    return std::move(placed_);
  }

 private:
  // A factor that is not the major one of a dimension, or stands in two dimensions of one tensor, cannot be sharded.
  void block_minor(const TensorFactors& tensor) {
    std::vector<bool> seen(blocked_.size(), false);
    for (const DimFactors& dim : tensor) {
      for (size_t i = 0; i < dim.size(); ++i) {
        if (i > 0 || seen[dim[i]]) blocked_[dim[i]] = true;
        seen[dim[i]] = true;
      }
    }
  }

  bool is_linear(size_t operand) const { return factors_.linear_operands.empty() || factors_.linear_operands[operand]; }

  AxisPlacement along(size_t operand, int64_t axis) const {
    const auto& placement = operands_[operand].placement;
    return placement ? (*placement)[axis] : replicate();
  }
  bool is_sum(size_t operand, int64_t axis) const { return along(operand, axis) == partial(); }

  bool partial_passes(int64_t axis) const {
    int64_t sums = 0;
    bool jointly = true;  // every linear operand is Partial or zero
    bool others_whole = true;
    for (size_t i = 0; i < operands_.size(); ++i) {
      if (is_linear(i) && is_sum(i, axis)) {
        ++sums;
        continue;
      }
      jointly = jointly && (!is_linear(i) || operands_[i].zero);
      others_whole = others_whole && along(i, axis).is_replicate();
    }
    if (factors_.linear == Linearity::Joint) return sums > 0 && jointly && others_whole;
    return factors_.linear == Linearity::Single && sums == 1 && others_whole;
  }

  void pass_partial(int64_t axis) {
    for (size_t i = 0; i < operands_.size(); ++i) {
      const bool zero = factors_.linear == Linearity::Joint && is_linear(i) && operands_[i].zero;
      if (is_sum(i, axis) || zero) placed_.operands[i][axis] = partial();
    }
    for (Placement& p : placed_.results) p[axis] = partial();
  }

  // The factor whose choice keeps the most bytes of the operands where they lie, of those that give way to no other;
  // −1 if none can be sharded.
  int choose(int64_t axis) {
    std::vector<int64_t> bytes(factors_.factors.size(), 0);
    for (size_t i = 0; i < operands_.size(); ++i) {
      const int factor = proposal(i, axis);
      if (factor >= 0) bytes[factor] += operands_[i].type.bytes();
    }
    const auto worth = [&](int factor) {
      const Factor& f = factors_.factors[factor];
      return std::pair(f.exchanged ? 0 : f.yields ? 1 : 2, bytes[factor]);
    };
    int best = -1;
    for (size_t i = 0; i < operands_.size(); ++i) {
      const int factor = proposal_of(i, axis);
      if (factor >= 0 && bytes[factor] > 0 && (best < 0 || worth(factor) > worth(best))) best = factor;
    }
    return best;
  }

  // The factor that operand i's placement would have sharded along the axis.
  int proposal_of(size_t i, int64_t axis) const {
    const AxisPlacement a = along(i, axis);
    if (!a.is_shard()) return -1;
    const DimFactors& dim = factors_.operands[i][a.dim];
    return dim.empty() ? -1 : dim.front();
  }

  // The same if it can be; notes why where it cannot.
  int proposal(size_t i, int64_t axis) {
    if (!along(i, axis).is_shard()) return -1;
    const int factor = proposal_of(i, axis);
    const MeshAxis& a = mesh_.axes()[axis];
    const auto note = [&](const std::string& why) {
      placed_.notes.push_back(fmt::format("operand {} {}{} is made whole over {}: {}", i, to_string(operands_[i].type),
                                          to_string(*operands_[i].placement), a.name, why));
      return -1;
    };
    if (factor >= 0 && factors_.factors[factor].yields && blocked_[factor]) return -1;
    if (factor < 0 || blocked_[factor]) return note(fmt::format("dimension {} must be whole", along(i, axis).dim));
    if (!divides(factor, axis))
      return note(fmt::format("{} does not divide by {}", factors_.factors[factor].size, cuts_[factor] * a.size));
    return factor;
  }

  bool divides(int factor, int64_t axis) const {
    return factors_.factors[factor].size % (cuts_[factor] * mesh_.axes()[axis].size) == 0;
  }

  static AxisPlacement place_in(const TensorFactors& tensor, int factor, AxisPlacement otherwise) {
    for (size_t d = 0; d < tensor.size(); ++d) {
      if (!tensor[d].empty() && tensor[d].front() == factor) return shard(static_cast<int64_t>(d));
    }
    return otherwise;
  }

  void shard_factor(int64_t axis, int factor) {
    const Factor& f = factors_.factors[factor];
    cuts_[factor] *= mesh_.axes()[axis].size;
    const int exchanged = exchanged_along(axis, factor);
    if (exchanged >= 0) cuts_[exchanged] *= mesh_.axes()[axis].size;
    const auto along_axis = [&](const TensorFactors& tensor, AxisPlacement without) {
      return place_in(tensor, factor, exchanged < 0 ? without : place_in(tensor, exchanged, without));
    };
    for (size_t i = 0; i < operands_.size(); ++i)
      placed_.operands[i][axis] = along_axis(factors_.operands[i], replicate());
    const AxisPlacement without = f.kind == FactorKind::Reduced ? partial(f.reduction) : replicate();
    for (size_t i = 0; i < placed_.results.size(); ++i)
      placed_.results[i][axis] = along_axis(factors_.results[i], without);
  }

  // The exchanged factor that stays cut along an axis that `chosen` takes; −1 if there is none.
  int exchanged_along(int64_t axis, int chosen) const {
    for (size_t i = 0; i < operands_.size(); ++i) {
      const int factor = proposal_of(i, axis);
      if (factor >= 0 && factor != chosen && factors_.factors[factor].exchanged && divides(factor, axis)) return factor;
    }
    return -1;
  }

  const Factors& factors_;
  const std::vector<PlacedOperand>& operands_;
  const Mesh& mesh_;
  std::vector<bool> blocked_;
  std::vector<int64_t> cuts_;  // into how many parts each factor is cut by the axes decided so far
  NodePlacement placed_;
};

}  // namespace

NodePlacement place_node(const Factors& factors, const std::vector<PlacedOperand>& operands, const Mesh& mesh) {
  require(factors.operands.size() == operands.size(), "a rule for {} operands for a node of {}",
          factors.operands.size(), operands.size());
  if (factors.linear != Linearity::Each) return Rule(factors, operands, mesh).place();
  NodePlacement placed;
  for (const PlacedOperand& o : operands) placed.operands.push_back(o.placement.value_or(replicated(mesh)));
  placed.results = placed.operands;
  return placed;
}

}  // namespace tethys
