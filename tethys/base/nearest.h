// The nearest of a list of names to one that is not in it: what an error about an unknown name suggests.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tethys {

// How many characters must be inserted, removed, replaced or swapped with their neighbour to turn one into the other.
size_t edit_distance(std::string_view a, std::string_view b);

// The candidate at the smallest distance, the first of equals; empty if there are no candidates.
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace tethys
