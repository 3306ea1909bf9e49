// KvCache: the keys and values of all positions that a model has seen, so that a further token costs one row of work
// and not the whole text anew. Values of a graph: what a call gives is an argument of the next.
//
//   KvCache cache = KvCache::made(1024, layers);            // a first call: the prompt
//   Tensor hidden = model.hidden(rows, &cache);
//   graph.set_outputs({hidden.value(), cache.layers[0].keys_CET.value(), …});
//
// Place t of a cache is for position t of the one document that each row holds. Places not written to yet may hold
// anything: no query stands after them.
#pragma once

#include <vector>

#include "kernels/attention/attention.h"

namespace tethys {

// Of one layer; C the key and value heads of all rows, T places, E head size. Both lie as the products with them read
// them, so that a step writes its own row in place and moves nothing else.
struct LayerCache {
  Tensor keys_CET, values_CTE;
};

struct KvCache {
  int64_t length = 0;              // T
  std::optional<Tensor> place;     // s32[]: where the rows of this call begin; without one the cache begins with them
  std::vector<LayerCache> layers;  // attention replaces its own by the one with this call's rows

  // For a first call, which makes the cache.
  static KvCache made(int64_t length, size_t layers) { return {length, std::nullopt, std::vector<LayerCache>(layers)}; }
};

// Writes the operands' keys and values into the cache of a layer. Unless they are all that it holds, they become the
// whole cache's.
void attend_to_cache(AttentionOperands& operands, KvCache& cache, size_t layer);

}  // namespace tethys
