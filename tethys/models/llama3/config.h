// The config tree of Llama 3 (Grattafiori et al., 2024): every flavour is a recipe's values of the options model.*.
#pragma once

#include <memory>

#include "config/config.h"
#include "nn/language_model.h"

namespace tethys {

// The tree of the options' values, with Llama 3's initial values.
std::unique_ptr<LanguageModelConfig> llama_config(const Config& config);

}  // namespace tethys
