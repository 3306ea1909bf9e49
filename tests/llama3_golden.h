// What a peer computed with a small model: tests/golden/NAME/golden.json, and the model that a case of it is of.
#pragma once

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "training_testing.h"

namespace tethys::training_testing {

// Read once.
inline const nlohmann::json& golden_of(const std::string& name) {
  static std::map<std::string, nlohmann::json> documents;
  nlohmann::json& document = documents[name];
  if (document.is_null()) {
    std::ifstream file(TETHYS_SOURCE_DIR "/tests/golden/" + name + "/golden.json");
    document = nlohmann::json::parse(file);
  }
  return document;
}

inline Model model_of(const nlohmann::json& golden_case) {
  const nlohmann::json& m = golden_case.at("model");
  const nlohmann::json& rope = m.at("rope");
  return {.dim = m.at("dim"),
          .layers = m.at("layers"),
          .heads = m.at("heads"),
          .kv_heads = m.at("kv_heads"),
          .ffn = m.at("ffn"),
          .vocab = m.at("vocab"),
          .tied = m.at("tied"),
          .norm_eps = m.at("norm_eps"),
          .theta = rope.at("theta"),
          .factor = rope.at("factor"),
          .low = rope.at("low"),
          .high = rope.at("high"),
          .original = rope.at("original"),
          .architecture = m.value("architecture", "llama3"),
          .head_dim = m.value("head_dim", int64_t{0}),
          .experts = m.value("experts", int64_t{0}),
          .experts_per_token = m.value("experts_per_token", int64_t{1}),
          .expert_ffn = m.value("expert_ffn", int64_t{1})};
}

}  // namespace tethys::training_testing
