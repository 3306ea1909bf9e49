// What a model is called at Hugging Face: its parameters, and the keys of its config.json. A model's hf file is one
// such value; all that reads and writes Hugging Face folders works from it.
//
//   hugging_face_tensors(llama_hugging_face(), "layers.0.attention.wq.weight", {256, 256});
//   // one [256, 256], "model.layers.0.self_attn.q_proj.weight"
//   hugging_face_tensors(qwen3_moe_hugging_face(), "layers.0.moe.experts.w1", {64, 768, 256});
//   // 64 of [768, 256], "model.layers.0.mlp.experts.0.gate_proj.weight" and so on
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/option.h"
#include "values/shape.h"

namespace tethys {

// A star in both stands for the number of the layer. A further one in theirs stands for the number of an expert: what
// is one parameter of ours, stacked over the experts, is a tensor of each expert there.
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
  std::string absent = "";  // what transformers takes where the key is absent, if that is another value
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

// Of what nn/transformer.h has, with dense feed-forwards or with experts (nn/moe/moe.h) in their place.
std::vector<HuggingFaceName> transformer_names();
std::vector<HuggingFaceName> moe_transformer_names();

// What a parameter is there: one tensor of its shape; or one for each index of its first dimension, in order, which do
// not have that dimension.
struct HuggingFaceTensors {
  std::vector<std::string> names;
  Dims dims;  // of each
};

// InternalError for a name that is not one of the model's.
HuggingFaceTensors hugging_face_tensors(const HuggingFaceModel& model, const std::string& parameter, const Dims& dims);

}  // namespace tethys
