#include "nn/initial_values.h"

#include <cmath>
#include <numbers>

#include "base/hash.h"
#include "ops/control/redistribute.h"
#include "ops/random/threefry.h"
#include "ops/shape/splat.h"

namespace tethys {
namespace {

// Shape of the stored value with all but the given dimension 1, so that it broadcasts.
Dims along(const Dims& dims, size_t d) {
  Dims result(dims.size(), 1);
  result[d] = dims[d];
  return result;
}

class Initialiser {
 public:
  Initialiser(Value seed, const StoredParameter& stored)
      : seed_(seed),
        stored_(stored),
        parameter_(*stored.members[0]),
        first_dim_(stored.stacked ? 1 : 0),
        dtype_(wide(stored.type.dtype)) {}

  Value value() {
    for (const Parameter* member : stored_.members) {
      require(member->initial().kind == parameter_.initial().kind, "{} and {} are stacked and start differently",
              member->name(), parameter_.name());
    }
    return placed(cast(zero_padded(unpadded()), stored_.type.dtype));
  }

 private:
  Graph& graph() { return *seed_.graph; }

  Value placed(const Tensor& x) { return redistribute(x.value(), stored_.placement); }

  Tensor splat_all(double value) { return splat(graph(), {dtype_, stored_.type.dims}, value); }

  Tensor unpadded() {
    switch (parameter_.initial().kind) {
      case InitialValue::Kind::Zeros: return splat_all(0);
      case InitialValue::Kind::Ones: return splat_all(1);
      default: return normal_values();
    }
  }

  // A number per layer of a stack, or one, in a shape that broadcasts.
  Tensor per_member(DType dtype, const std::function<double(const Parameter&)>& number) {
    std::vector<double> numbers;
    for (const Parameter* member : stored_.members) numbers.push_back(number(*member));
    Dims dims(stored_.type.dims.size(), 1);
    if (stored_.stacked) dims[0] = static_cast<int64_t>(numbers.size());
    return constant(graph(), HostTensor::from_doubles({dtype, dims}, numbers));
  }

  // Word `index` of the hash of each member's name.
  Tensor name_word(size_t index) {
    return per_member(DType::U32, [&](const Parameter& member) {
      return static_cast<double>(std::stoul(hash_hex(member.name()).substr(8 * index, 8), nullptr, 16));
    });
  }

  Words keys() {
    const Tensor seed(seed_);
    const Words seed_words = {reshape(slice(seed, 0, 0, 1), {}), reshape(slice(seed, 0, 1, 2), {})};
    return threefry2x32(seed_words, {name_word(0), name_word(1)});
  }

  // The index along the first dimension, and the row-major one in all others, whatever the padding.
  Words counter() {
    const Dims& dims = stored_.type.dims;
    Tensor row = placed(splat(graph(), {DType::U32, dims}, 0));
    Tensor rest = row;
    int64_t stride = 1;
    for (size_t d = dims.size(); d-- > first_dim_;) {
      const Tensor index = placed(iota(graph(), {DType::U32, dims}, static_cast<int64_t>(d)));
      if (d == first_dim_) {
        row = index;
      } else {
        rest = rest + index * static_cast<double>(stride);
        stride *= parameter_.dims()[d - first_dim_];
      }
    }
    require(stride <= int64_t{1} << 32, "{} has rows of {} elements, more than a counter's word counts",
            parameter_.name(), stride);
    return {row, rest};
  }

  // By the inverse of the normal distribution function, between its values at the cut.
  Tensor normal_values() {
    const Tensor uniform = symmetric_uniform(threefry2x32(keys(), counter()), dtype_);
    const bool truncated = parameter_.initial().kind == InitialValue::Kind::TruncatedNormal;
    const Tensor scale = per_member(dtype_, [](const Parameter& p) { return p.initial().std * std::numbers::sqrt2; });
    if (!truncated) return erf_inv(uniform) * scale;
    const Tensor range = per_member(
        dtype_, [](const Parameter& p) { return std::erf(p.initial().cut / (p.initial().std * std::numbers::sqrt2)); });
    return erf_inv(uniform * range) * scale;
  }

  Tensor zero_padded(Tensor x) {
    const Dims& dims = stored_.type.dims;
    for (size_t d = first_dim_; d < dims.size(); ++d) {
      const int64_t size = parameter_.dims()[d - first_dim_];
      if (dims[d] == size) continue;
      const Tensor index = iota(graph(), {DType::S32, along(dims, d)}, static_cast<int64_t>(d));
      x = where(index < static_cast<double>(size), x, 0);
    }
    return x;
  }

  Value seed_;
  const StoredParameter& stored_;
  const Parameter& parameter_;
  size_t first_dim_;  // after the layers of a stack
  DType dtype_;
};

}  // namespace

std::vector<Value> initial_values(Value seed, const std::vector<StoredParameter>& store) {
  require((seed.type() == TensorType{DType::U32, {2}}), "a seed of type {}, expected u32[2]", to_string(seed.type()));
  std::vector<Value> values;
  for (const StoredParameter& stored : store) values.push_back(Initialiser(seed, stored).value());
  return values;
}

}  // namespace tethys
