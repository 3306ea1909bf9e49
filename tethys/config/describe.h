// Texts about options and their values: the help of a command, the page of all options, the effective configuration.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/option.h"

namespace tethys {

class Config;

// The help of a command: `usage` ("tethys train RECIPE [options]"), what it does, and its options, each with type,
// default and meaning: those of no section, and of the others those of the section `part`, or all of them where that is
// "all"; where it is empty, their names alone.
std::string help_text(std::string_view usage, std::string_view summary, const std::vector<Option>& options,
                      std::string_view part = "all");

// The options by section as a page of Markdown.
std::string options_markdown(const std::vector<Option>& options);

// Each value that a recipe can set, by section, with where it came from.
std::string config_tree(const Config& config);

// The same values as a recipe that loads to them.
std::string config_toml(const Config& config);

}  // namespace tethys
