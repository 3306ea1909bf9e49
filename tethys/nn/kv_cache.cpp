#include "nn/kv_cache.h"

#include <array>

#include "ops/shape/shape.h"
#include "ops/shape/splat.h"

namespace tethys {
namespace {

constexpr int64_t kKeyPlaces = 2, kValuePlaces = 1;  // the dimension along which places lie

Tensor as_keys(const Tensor& k_BSKE) {
  return reshape(permute(k_BSKE, {0, 2, 3, 1}), {-1, k_BSKE.size(3), k_BSKE.size(1)});
}

Tensor as_values(const Tensor& v_BSKE) {
  return reshape(permute(v_BSKE, {0, 2, 1, 3}), {-1, v_BSKE.size(1), v_BSKE.size(3)});
}

// The inverse of both, for as many heads as `like` has.
Tensor from_keys(const Tensor& keys_CET, const Tensor& like_BSKE) {
  const Dims dims{like_BSKE.size(0), like_BSKE.size(2), keys_CET.size(1), keys_CET.size(2)};
  return permute(reshape(keys_CET, dims), {0, 3, 1, 2});
}

Tensor from_values(const Tensor& values_CTE, const Tensor& like_BSKE) {
  const Dims dims{like_BSKE.size(0), like_BSKE.size(2), values_CTE.size(1), values_CTE.size(2)};
  return permute(reshape(values_CTE, dims), {0, 2, 1, 3});
}

Tensor padded(const Tensor& x, int64_t dim, int64_t length) {
  Dims high(3, 0);
  high[static_cast<size_t>(dim)] = length - x.size(dim);
  return pad(x.value(), splat(x.graph(), {x.dtype(), {}}, 0), Dims(3, 0), high);
}

Tensor written(const Tensor& cache, const Tensor& x, int64_t dim, const Tensor& place) {
  const Value zero = splat(x.graph(), {DType::S32, {}}, 0);
  std::array starts = {zero, zero, zero};
  starts[static_cast<size_t>(dim)] = place.value();
  return dynamic_update_slice(cache.value(), x.value(), starts);
}

}  // namespace

void attend_to_cache(AttentionOperands& operands, KvCache& cache, size_t layer) {
  LayerCache& own = cache.layers.at(layer);
  const Tensor k_BSKE = operands.k_BTKD;
  const Tensor v_BSKE = operands.v_BTKD;
  require(k_BSKE.size(1) <= cache.length, "{} rows for a cache of {} places", k_BSKE.size(1), cache.length);
  if (!cache.place) {
    own = {padded(as_keys(k_BSKE), kKeyPlaces, cache.length), padded(as_values(v_BSKE), kValuePlaces, cache.length)};
    return;
  }
  own = {written(own.keys_CET, as_keys(k_BSKE), kKeyPlaces, *cache.place),
         written(own.values_CTE, as_values(v_BSKE), kValuePlaces, *cache.place)};
  operands.k_BTKD = from_keys(own.keys_CET, k_BSKE);
  operands.v_BTKD = from_values(own.values_CTE, v_BSKE);
  Graph& graph = k_BSKE.graph();
  const TensorType places{DType::S32, {k_BSKE.size(0), cache.length}};
  operands.k_positions_BT = iota(graph, places, 1);
  operands.k_segments_BT = splat(graph, places, 0);
  operands.q_segments_BS = full_like(operands.q_segments_BS, 0);
}

}  // namespace tethys
