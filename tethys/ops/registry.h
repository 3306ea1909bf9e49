// The records of all ops, and the functions that record the unary and binary ones.
#pragma once

#include <span>

#include "ir/graph.h"
#include "ops/op_list.h"

namespace tethys {

#define TETHYS_UNARY(name)         \
  extern const OpRecord name##_op; \
  inline Value name(Value x) { return x.graph->append(name##_op, {}, {x})[0]; }
#define TETHYS_BINARY(name)        \
  extern const OpRecord name##_op; \
  inline Value name(Value x, Value y) { return x.graph->append(name##_op, {}, {x, y})[0]; }
#define TETHYS_OTHER(name) extern const OpRecord name##_op;
TETHYS_OPS(TETHYS_UNARY, TETHYS_BINARY, TETHYS_OTHER)
#undef TETHYS_UNARY
#undef TETHYS_BINARY
#undef TETHYS_OTHER

// Every op, in the order of the list.
std::span<const OpRecord* const> all_ops();

}  // namespace tethys
