// select(p, x, y): x where p holds, else y. All of one shape.
#pragma once

#include "ir/graph.h"

namespace tethys {

Value select(Value predicate, Value x, Value y);

}  // namespace tethys
