#include "models/llama3/hf.h"

#include <map>

#include "base/error.h"

namespace tethys {
namespace {

const std::map<std::string, std::string>& in_model() {
  static const std::map<std::string, std::string> names = {
      {"tok_embeddings.weight", "model.embed_tokens.weight"},
      {"norm.weight", "model.norm.weight"},
      {"output.weight", "lm_head.weight"},
  };
  return names;
}

const std::map<std::string, std::string>& in_layer() {
  static const std::map<std::string, std::string> names = {
      {"attention.wq.weight", "self_attn.q_proj.weight"},     {"attention.wk.weight", "self_attn.k_proj.weight"},
      {"attention.wv.weight", "self_attn.v_proj.weight"},     {"attention.wo.weight", "self_attn.o_proj.weight"},
      {"feed_forward.w1.weight", "mlp.gate_proj.weight"},     {"feed_forward.w3.weight", "mlp.up_proj.weight"},
      {"feed_forward.w2.weight", "mlp.down_proj.weight"},     {"attention_norm.weight", "input_layernorm.weight"},
      {"ffn_norm.weight", "post_attention_layernorm.weight"},
  };
  return names;
}

}  // namespace

std::string llama_hugging_face_name(const std::string& parameter) {
  const std::string layers = "layers.";
  if (const auto found = in_model().find(parameter); found != in_model().end()) return found->second;
  if (parameter.starts_with(layers)) {
    const size_t end = parameter.find('.', layers.size());  // of "layers.0"
    const auto found = end == std::string::npos ? in_layer().end() : in_layer().find(parameter.substr(end + 1));
    if (found != in_layer().end()) return "model." + parameter.substr(0, end + 1) + found->second;
  }
  internal_error("{} is no parameter of Llama", parameter);
}

}  // namespace tethys
