// Rows of a table by index, and its transpose. The rows may be sharded: then a device looks up those that it has, and
// the result is a sum over the devices (Shoeybi et al., Megatron-LM, 2019, section 3).
#pragma once

#include "ir/graph.h"

namespace tethys {

// table [V, …], indices s32 [I…] → [I…, …]: row indices[i] of the table. Indices outside 0 … V−1 are clamped.
Value gather(Value table, Value indices);

// indices s32 [I…], updates [I…, …] → [rows, …]: zeros with every update added to its row. An index outside the rows is
// dropped.
Value scatter_add(Value indices, Value updates, int64_t rows);
// The same in the shape of `like`, and where it lies; nothing else of `like` is used.
Value scatter_add_like(Value indices, Value updates, Value like);

}  // namespace tethys
