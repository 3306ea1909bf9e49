// Comparisons, to bool. The gradient stops here.
#pragma once

#include "ir/graph.h"

namespace tethys {

enum class Comparison { Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual };

Value compare(Value x, Value y, Comparison comparison);
inline Value equal(Value x, Value y) { return compare(x, y, Comparison::Equal); }
inline Value less(Value x, Value y) { return compare(x, y, Comparison::Less); }
inline Value less_equal(Value x, Value y) { return compare(x, y, Comparison::LessEqual); }
inline Value greater_equal(Value x, Value y) { return compare(x, y, Comparison::GreaterEqual); }

}  // namespace tethys
