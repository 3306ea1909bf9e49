#include "nn/initial_values.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/hash.h"
#include "ops/control/barrier.h"
#include "ops/control/redistribute.h"
#include "ops/random/threefry.h"
#include "ops/shape/splat.h"

namespace tethys {
namespace {

// Stored parameters of one shape and placement are made together, so that a compiler sees few large computations; the
// largest are made alone, since making is twice as large as storing. In elements.
constexpr int64_t kMadeTogether = int64_t{1} << 24;

enum class Kind : uint8_t { Zeros, Ones, Random };

Kind kind_of(const Parameter& parameter) {
  switch (parameter.initial().kind) {
    case InitialValue::Kind::Zeros: return Kind::Zeros;
    case InitialValue::Kind::Ones: return Kind::Ones;
    default: return Kind::Random;
  }
}

// Stored parameters whose logical members have one shape, padding, placement, dtype and kind.
struct Batch {
  std::vector<size_t> stored;             // indices into the store
  std::vector<const Parameter*> members;  // of all of them, in order
};

std::vector<Batch> batches_of(const std::vector<StoredParameter>& store) {
  std::vector<Batch> batches;
  auto fits = [](const Batch& batch, const StoredParameter& stored) {
    const Parameter& a = *batch.members[0];
    const Parameter& b = *stored.key();
    const auto elements = static_cast<int64_t>(batch.members.size()) * a.elements() + stored.type.elements();
    return a.dims() == b.dims() && a.stored_type() == b.stored_type() && kind_of(a) == kind_of(b) &&
           a.parametrization().storage == b.parametrization().storage && elements <= kMadeTogether;
  };
  for (size_t i = 0; i < store.size(); ++i) {
    for (const Parameter* member : store[i].members) {
      require(kind_of(*member) == kind_of(*store[i].key()), "{} and {} are stacked and start differently",
              member->name(), store[i].key()->name());
    }
    auto found = std::find_if(batches.begin(), batches.end(), [&](const Batch& b) { return fits(b, store[i]); });
    if (found == batches.end()) found = batches.insert(batches.end(), Batch{});
    found->stored.push_back(i);
    found->members.insert(found->members.end(), store[i].members.begin(), store[i].members.end());
  }
  return batches;
}

// Makes a batch as one array [M, …] of its members.
class Maker {
 public:
  Maker(Value seed, const Batch& batch)
      : seed_(seed), members_(batch.members), parameter_(*members_[0]), dtype_(wide(parameter_.stored_type().dtype)) {
    dims_ = parameter_.stored_type().dims;
    dims_.insert(dims_.begin(), static_cast<int64_t>(members_.size()));
    placement_ = parameter_.parametrization().storage;
    for (AxisPlacement& axis : placement_) {
      if (axis.is_shard()) ++axis.dim;
    }
  }

  Tensor make() {
    const Kind kind = kind_of(parameter_);
    const Tensor values =
        kind == Kind::Random ? normal_values() : placed(splat(graph(), {dtype_, dims_}, kind == Kind::Ones ? 1 : 0));
    return cast(zero_padded(values), parameter_.stored_type().dtype);
  }

 private:
  Graph& graph() { return *seed_.graph; }
  Tensor placed(const Tensor& x) { return redistribute(x.value(), placement_); }

  // A number per member, in a shape that broadcasts.
  Tensor per_member(DType dtype, const std::function<double(const Parameter&)>& number) {
    std::vector<double> numbers;
    for (const Parameter* member : members_) numbers.push_back(number(*member));
    Dims dims(dims_.size(), 1);
    dims[0] = dims_[0];
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

  // Of each element: the index along the first dimension, and the row-major one in all others, whatever the padding.
  Words counter() {
    const TensorType type{DType::U32, dims_};
    const Tensor row = placed(iota(graph(), type, 1));
    Tensor rest = placed(splat(graph(), type, 0));
    int64_t stride = 1;
    for (int64_t d = parameter_.stored_type().rank() - 1; d > 0; --d) {
      rest = rest + placed(iota(graph(), type, d + 1)) * static_cast<double>(stride);
      stride *= parameter_.dims()[d];
    }
    require(stride <= int64_t{1} << 32, "{} has rows of {} elements, more than a counter's word counts",
            parameter_.name(), stride);
    return {row, rest};
  }

  // By the inverse of the normal distribution function, between its values at the cut.
  Tensor normal_values() {
    const Tensor scale = per_member(dtype_, [](const Parameter& p) { return p.initial().std * std::numbers::sqrt2; });
    const Tensor range = per_member(dtype_, [](const Parameter& p) {
      const bool cut = p.initial().kind == InitialValue::Kind::TruncatedNormal;
      return cut ? std::erf(p.initial().cut / (p.initial().std * std::numbers::sqrt2)) : 1;
    });
    return erf_inv(symmetric_uniform(threefry2x32(keys(), counter()), dtype_) * range) * scale;
  }

  Tensor zero_padded(Tensor x) {
    for (size_t d = 1; d < dims_.size(); ++d) {
      const int64_t size = parameter_.dims()[d - 1];
      if (dims_[d] == size) continue;
      const Tensor index = placed(iota(graph(), {DType::S32, dims_}, static_cast<int64_t>(d)));
      x = where(index < static_cast<double>(size), x, 0);
    }
    return x;
  }

  Value seed_;
  const std::vector<const Parameter*>& members_;
  const Parameter& parameter_;
  DType dtype_;
  Dims dims_;
  Placement placement_;
};

}  // namespace

std::vector<Value> initial_values(Value seed, const std::vector<StoredParameter>& store) {
  require((seed.type() == TensorType{DType::U32, {2}}), "a seed of type {}, expected u32[2]", to_string(seed.type()));
  std::vector<Value> values(store.size());
  for (const Batch& batch : batches_of(store)) {
    // Behind a barrier, or a compiler makes all of it again for each part.
    const Value made = Maker(seed, batch).make().value();
    const Tensor all = optimization_barrier({&made, 1})[0];
    int64_t first = 0;
    for (size_t i : batch.stored) {
      const auto end = first + static_cast<int64_t>(store[i].members.size());
      const Tensor own = reshape(slice(all, 0, first, end), store[i].type.dims);
      values[i] = redistribute(own.value(), store[i].placement);
      first = end;
    }
  }
  return values;
}

}  // namespace tethys
