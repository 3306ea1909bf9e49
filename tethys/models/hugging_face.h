// What a model is called at Hugging Face: its parameters, and the keys of its config.json. A model's hf file is one
// such value; all that reads and writes Hugging Face folders works from it.
//
//   hugging_face_name(llama_hugging_face(), "layers.0.attention.wq.weight");   //
//   "model.layers.0.self_attn.q_proj.weight"
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/option.h"

namespace tethys {

// A star in both stands for the number of the layer.
struct HuggingFaceName {
  std::string ours;
  std::string theirs;
};

// A key whose value is an option's.
struct HuggingFaceKey {
  std::string key;
  std::string option;
  // What transformers takes where the key is absent: a value, or the value of another key; without both it is required.
  std::optional<OptionValue> absent = std::nullopt;
  std::string like = "";
};

// A key that has one value in all models that we compute, where it is there.
struct HuggingFaceConstant {
  std::string key;
  std::string json;
};

struct HuggingFaceModel {
  std::string model_type;    // "llama"
  std::string architecture;  // "LlamaForCausalLM"
  std::vector<HuggingFaceName> parameters;
  std::vector<HuggingFaceKey> keys;
  std::vector<HuggingFaceConstant> constants;
  std::vector<std::string> ignored;  // globs of tensors that old folders hold and that are computed anyway
  HuggingFaceName tied;              // ours: the tensor that a tied model takes in the place of theirs
};

// Of what nn/transformer.h has with dense feed-forwards.
std::vector<HuggingFaceName> transformer_names();

// InternalError for a name that is not one of the model's.
std::string hugging_face_name(const HuggingFaceModel& model, const std::string& parameter);

}  // namespace tethys
