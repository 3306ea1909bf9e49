// When two recorded graphs are the same program: the same ops with equal attributes in the same order, on values of the
// same types, with inputs placed alike. Names, tags and module paths do not count.
#pragma once

#include <string>

#include "ir/graph.h"

namespace tethys {

// Equal for the same programs; a hash of what prints, so that different ones may share it (the elements of a constant
// do not print).
std::string graph_hash(const Graph& graph);

bool same_program(const Graph& a, const Graph& b);

}  // namespace tethys
