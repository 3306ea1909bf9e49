#include "nn/kv_cache.h"

#include <array>

#include "ops/shape/shape.h"
#include "ops/shape/splat.h"

namespace tethys {
namespace {

// From [B, S, K, E] to [B, K, S, E], and back.
Tensor heads_first(const Tensor& x) { return transpose(x, 1, 2); }

Tensor padded(const Tensor& x_BKSE, int64_t length) {
  Dims high(4, 0);
  high[2] = length - x_BKSE.size(2);
  return pad(x_BKSE.value(), splat(x_BKSE.graph(), {x_BKSE.dtype(), {}}, 0), Dims(4, 0), high);
}

Tensor written(const Tensor& cache_BKTE, const Tensor& x_BKSE, const Tensor& place) {
  const Value zero = splat(x_BKSE.graph(), {DType::S32, {}}, 0);
  const std::array starts = {zero, zero, place.value(), zero};
  return dynamic_update_slice(cache_BKTE.value(), x_BKSE.value(), starts);
}

}  // namespace

void attend_to_cache(AttentionOperands& operands, KvCache& cache, size_t layer) {
  LayerCache& own = cache.layers.at(layer);
  const Tensor k_BKSE = heads_first(operands.k_BTKD);
  const Tensor v_BKSE = heads_first(operands.v_BTKD);
  require(k_BKSE.size(2) <= cache.length, "{} rows for a cache of {} places", k_BKSE.size(2), cache.length);
  if (!cache.place) {
    own = {padded(k_BKSE, cache.length), padded(v_BKSE, cache.length)};
    return;
  }
  own = {written(own.keys_BKTE, k_BKSE, *cache.place), written(own.values_BKTE, v_BKSE, *cache.place)};
  operands.k_BTKD = heads_first(own.keys_BKTE);
  operands.v_BTKD = heads_first(own.values_BKTE);
  Graph& graph = k_BKSE.graph();
  const TensorType places{DType::S32, {k_BKSE.size(0), cache.length}};
  operands.k_positions_BT = iota(graph, places, 1);
  operands.k_segments_BT = splat(graph, places, 0);
  operands.q_segments_BS = full_like(operands.q_segments_BS, 0);
}

}  // namespace tethys
