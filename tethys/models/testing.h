// For tests of the architectures: recipes, models built of them, and a small model of any.
#pragma once

#include <map>

#include "config/recipe.h"
#include "models/registry.h"
#include "nn/parameter_store.h"

namespace tethys::models_testing {

inline Config recipe(const std::string& name) {
  Config config;
  load_recipe(config, name, Path(TETHYS_SOURCE_DIR) / "recipes");
  check_config(config);
  return config;
}

inline std::unique_ptr<LanguageModel> built(const Config& config) {
  return architecture_of(config).configure(config)->build();
}

// Where everything lies, in text, of a model on a mesh with its layers stacked.
inline std::string stored_on(const Mesh& mesh, const Config& config) {
  const std::unique_ptr<LanguageModel> model = built(config);
  return to_string(make_store(*model, architecture_of(config).plan({}), {.mesh = mesh, .stack_layers = true}));
}

// The recipe's with two layers of width 32, four query heads and two key heads, 103 words, and what else is given.
inline Config small(const std::string& name, bool tied, const std::map<std::string, int64_t>& sizes) {
  Config config = recipe(name);
  const Origin origin{Origin::Source::Flag, "test"};
  const std::map<std::string, int64_t> common = {
      {"n_layers", 2}, {"n_heads", 4}, {"n_kv_heads", 2}, {"dim", 32}, {"vocab_size", 103}};
  for (const auto* all : {&common, &sizes}) {
    for (const auto& [option, size] : *all) config.set("model." + option, size, origin);
  }
  config.set("model.tie_embeddings", tied, origin);
  return config;
}

}  // namespace tethys::models_testing
