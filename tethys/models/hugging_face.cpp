#include "models/hugging_face.h"

#include <algorithm>

#include "base/error.h"

namespace tethys {
namespace {

// What the star of the pattern stands for, if the name fits; a pattern without one fits itself alone.
std::optional<std::string> number_in(const std::string& pattern, const std::string& name) {
  const size_t star = pattern.find('*');
  if (star == std::string::npos) return pattern == name ? std::optional<std::string>("") : std::nullopt;
  const std::string_view end = std::string_view(pattern).substr(star + 1);
  if (name.size() < pattern.size() || !name.starts_with(pattern.substr(0, star)) || !name.ends_with(end)) {
    return std::nullopt;
  }
  const std::string number = name.substr(star, name.size() - end.size() - star);
  const bool digits = std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
  return digits ? std::optional(number) : std::nullopt;
}

// In the place of the first star.
std::string with_number(std::string pattern, const std::string& number) {
  return pattern.replace(pattern.find('*'), 1, number);
}

// All but the feed-forwards.
std::vector<HuggingFaceName> names_of_rest() {
  return {
      {"tok_embeddings.weight", "model.embed_tokens.weight"},
      {"layers.*.attention_norm.weight", "model.layers.*.input_layernorm.weight"},
      {"layers.*.attention.wq.weight", "model.layers.*.self_attn.q_proj.weight"},
      {"layers.*.attention.wk.weight", "model.layers.*.self_attn.k_proj.weight"},
      {"layers.*.attention.wv.weight", "model.layers.*.self_attn.v_proj.weight"},
      {"layers.*.attention.wo.weight", "model.layers.*.self_attn.o_proj.weight"},
      {"layers.*.ffn_norm.weight", "model.layers.*.post_attention_layernorm.weight"},
      {"norm.weight", "model.norm.weight"},
      {"output.weight", "lm_head.weight"},
  };
}

}  // namespace

std::vector<HuggingFaceName> transformer_names() {
  std::vector<HuggingFaceName> names = names_of_rest();
  names.push_back({"layers.*.feed_forward.w1.weight", "model.layers.*.mlp.gate_proj.weight"});
  names.push_back({"layers.*.feed_forward.w3.weight", "model.layers.*.mlp.up_proj.weight"});
  names.push_back({"layers.*.feed_forward.w2.weight", "model.layers.*.mlp.down_proj.weight"});
  return names;
}

std::vector<HuggingFaceName> moe_transformer_names() {
  std::vector<HuggingFaceName> names = names_of_rest();
  names.push_back({"layers.*.moe.router.gate.weight", "model.layers.*.mlp.gate.weight"});
  names.push_back({"layers.*.moe.experts.w1", "model.layers.*.mlp.experts.*.gate_proj.weight"});
  names.push_back({"layers.*.moe.experts.w3", "model.layers.*.mlp.experts.*.up_proj.weight"});
  names.push_back({"layers.*.moe.experts.w2", "model.layers.*.mlp.experts.*.down_proj.weight"});
  return names;
}

HuggingFaceTensors hugging_face_tensors(const HuggingFaceModel& model, const std::string& parameter, const Dims& dims) {
  for (const HuggingFaceName& name : model.parameters) {
    const std::optional<std::string> number = number_in(name.ours, parameter);
    if (!number) continue;
    const std::string theirs = number->empty() ? name.theirs : with_number(name.theirs, *number);
    if (theirs.find('*') == std::string::npos) return {{theirs}, dims};
    HuggingFaceTensors stacked{{}, {dims.begin() + 1, dims.end()}};
    for (int64_t i = 0; i < dims.at(0); ++i) stacked.names.push_back(with_number(theirs, std::to_string(i)));
    return stacked;
  }
  internal_error("{} is no parameter of {}", parameter, model.architecture);
}

}  // namespace tethys
