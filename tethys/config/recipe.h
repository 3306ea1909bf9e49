// Recipes: TOML files that set options. A recipe's first line may name another that it builds on.
//
//   base = "llama3_8b"
//   [training]
//   steps = 100
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"

namespace tethys {

class Config;

// Sets what the recipe sets, after what its bases set, and returns the recipe's name: that of its file without the
// ending. A text with a slash or the ending .toml is a path, for a base from the folder of its recipe; any other is the
// name of a file in `recipes`. UserError with file and line, and the column where the text itself is wrong.
std::string load_recipe(Config& config, std::string_view name_or_path, const Path& recipes);

// The names of the recipes in a folder, sorted; none where there is no folder.
std::vector<std::string> recipe_names(const Path& recipes);

}  // namespace tethys
