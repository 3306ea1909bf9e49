// Rows of a table by index, and its transpose.
#pragma once

#include "ir/graph.h"

namespace tethys {

// table [V, …], indices s32 [I…] → [I…, …]: row indices[i] of the table. Indices outside 0 … V−1 are clamped.
Value gather(Value table, Value indices);

// indices s32 [I…], updates [I…, …] → [rows, …]: zeros with every update added to its row. An index outside the rows is
// dropped.
Value scatter_add(Value indices, Value updates, int64_t rows);

}  // namespace tethys
