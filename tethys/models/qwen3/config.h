// The config tree of Qwen3 (Qwen Team, 2025): a transformer whose heads have a size of their own and are normalised
// before they turn. Every flavour is a recipe's values of the options model.*.
#pragma once

#include <memory>

#include "config/config.h"
#include "nn/language_model.h"

namespace tethys {

// The tree of the options' values, with Qwen3's initial values.
std::unique_ptr<LanguageModelConfig> qwen3_config(const Config& config);

// With experts in the place of the feed-forwards.
std::unique_ptr<LanguageModelConfig> qwen3_moe_config(const Config& config);

}  // namespace tethys
