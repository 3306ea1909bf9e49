// rotate: in a loop over layers, the weights of the next layer are gathered while this one computes. Inside of one
// iteration a gather stands right before the products that wait for it, and no compiler moves it into the iteration
// before; so the first layer's is taken out in front of the loop, and each iteration gathers for its successor, whose
// weights ride in the carry.
//
//   scan: g = gather(x_t); h = f(h, g)      →      g = gather(x_0); scan: g' = gather(x_{t+1}); (h, g) = (f(h, g), g')
//
// The last iteration has no successor and gathers its own weights once more, for nothing: one layer's gathers a loop.
#pragma once

#include <memory>

#include "ir/graph.h"

namespace tethys {

// `local` is a program of one device, its gradient already in it: what rides in a carry is no residual. Rotated are the
// gathers of parameters that a scan has slices of, in loops inside of loops too; parameters that are the same for every
// iteration, and activations, stay where they are.
std::shared_ptr<Graph> rotate(const Graph& local);

}  // namespace tethys
