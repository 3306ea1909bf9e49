// to_memory: the same value, kept in the memory of the host or of the device. On platforms whose programs have one
// memory it is nothing, and legalize leaves it out.
#pragma once

#include "ir/graph.h"

namespace tethys {

enum class Memory : uint8_t { Device, Host };

Value to_memory(Value x, Memory memory);
// Of a node of to_memory_op.
Memory memory_of(const Attributes& attributes);

}  // namespace tethys
