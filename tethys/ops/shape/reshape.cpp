#include "ops/registry.h"
#include "ops/samples.h"
#include "ops/shape/shape.h"

namespace tethys {
namespace {

std::vector<TensorType> infer(const OpCall& call) {
  const TensorType& x = call.operands[0];
  require(call.declared.size() == 1 && call.declared[0].elements() == x.elements(),
          "{} has not the elements of the new shape", to_string(x));
  return {{x.dtype, call.declared[0].dims}};
}

Cotangents vjp(const VjpContext& c) { return {reshape(*c.cotangents[0], c.operands[0].dims())}; }

// Walks both shapes from the left, cutting them into the finest factors of which both are products. Where two sizes
// have no common cut, the rest of the group is one factor that must be whole.
class ReshapeFactors {
 public:
  ReshapeFactors(const Dims& from, const Dims& to) : from_(from), to_(to) {
    factors_.operands.assign(1, TensorFactors(from.size()));
    factors_.results.assign(1, TensorFactors(to.size()));
    factors_.linear = Linearity::Joint;
    const bool empty = element_count(from) == 0;  // sizes of 0 have no factors: all of it must be whole
    while (!empty && i_ < from_.size() && j_ < to_.size()) step();
    for (; i_ < from_.size(); ++i_) add(left_i(), FactorKind::Replicate, true, false);
    for (; j_ < to_.size(); ++j_) add(left_j(), FactorKind::Replicate, false, true);
  }

  Factors result() { return std::move(factors_); }

 private:
  int64_t left_i() const { return from_[i_] / done_i_; }
  int64_t left_j() const { return to_[j_] / done_j_; }

  void add(int64_t size, FactorKind kind, bool in_from, bool in_to) {
    const int id = static_cast<int>(factors_.factors.size());
    factors_.factors.push_back({kind, size, Reduction::Sum});
    if (in_from) factors_.operands[0][i_].push_back(id);
    if (in_to) factors_.results[0][j_].push_back(id);
  }

  // One common factor of the two current dimensions, then on to the next dimension of whichever is used up.
  void step() {
    const int64_t a = left_i();
    const int64_t b = left_j();
    if (a == 1 || b == 1) {  // a size-one dimension (or an exhausted one) on one side only
      if (a == 1)
        skip_i();
      else
        skip_j();
      return;
    }
    if (a % b != 0 && b % a != 0) return whole_group();
    const int64_t size = a < b ? a : b;
    add(size, FactorKind::Pass, true, true);
    done_i_ *= size;
    done_j_ *= size;
    if (left_i() == 1) skip_i();
    if (left_j() == 1) skip_j();
  }

  void skip_i() {
    ++i_;
    done_i_ = 1;
  }
  void skip_j() {
    ++j_;
    done_j_ = 1;
  }

  // No common cut: take dimensions on both sides until the products agree; all of it must be whole.
  void whole_group() {
    int64_t a = left_i();
    int64_t b = left_j();
    add(a, FactorKind::Replicate, true, false);
    add(b, FactorKind::Replicate, false, true);
    while (a != b) {
      if (a < b) {
        skip_i();
        add(from_[i_], FactorKind::Replicate, true, false);
        a *= from_[i_];
      } else {
        skip_j();
        add(to_[j_], FactorKind::Replicate, false, true);
        b *= to_[j_];
      }
    }
    skip_i();
    skip_j();
  }

  const Dims& from_;
  const Dims& to_;
  Factors factors_;
  size_t i_ = 0, j_ = 0;
  int64_t done_i_ = 1, done_j_ = 1;
};

Factors factors(const OpCall& call) { return ReshapeFactors(call.operands[0].dims, call.declared[0].dims).result(); }

Sample sample(std::string name, Dims from, Dims to) {
  return plain_sample(std::move(name), {sample_tensor(std::move(from), 1)}, {}, {{DType::F64, std::move(to)}});
}

std::vector<Sample> samples() {
  return {sample("merge", {4, 2, 3}, {8, 3}), sample("split", {8, 3}, {4, 2, 3}),
          sample("no common cut", {4, 6}, {3, 8}), sample("ones", {4, 1, 3}, {1, 4, 3})};
}

}  // namespace

const OpRecord reshape_op = {
    .name = "reshape",
    .stablehlo = "stablehlo.reshape",
    .infer = infer,
    .emit = [](EmitContext& c) { return c.writer.op("stablehlo.reshape", c.operands, c.results); },
    .gradient = Gradient::Rule,
    .vjp = vjp,
    .factors = factors,
    .samples = samples,
};

Value reshape(Value x, Dims shape) {
  if (shape == x.dims()) return x;
  return x.graph->append(reshape_op, {}, {x}, {}, {{x.dtype(), std::move(shape)}})[0];
}

}  // namespace tethys
