#include "models/qwen3/hf.h"

namespace tethys {
namespace {

std::vector<HuggingFaceName> names() {
  std::vector<HuggingFaceName> result = transformer_names();
  result.push_back({"layers.*.attention.q_norm.weight", "model.layers.*.self_attn.q_norm.weight"});
  result.push_back({"layers.*.attention.k_norm.weight", "model.layers.*.self_attn.k_norm.weight"});
  return result;
}

std::vector<HuggingFaceName> moe_names() {
  std::vector<HuggingFaceName> result = names();
  std::erase_if(result,
                [](const HuggingFaceName& name) { return name.ours.find(".feed_forward.") != std::string::npos; });
  result.push_back({"layers.*.moe.router.gate.weight", "model.layers.*.mlp.gate.weight"});
  result.push_back({"layers.*.moe.experts.w1", "model.layers.*.mlp.experts.#.gate_proj.weight"});
  result.push_back({"layers.*.moe.experts.w3", "model.layers.*.mlp.experts.#.up_proj.weight"});
  result.push_back({"layers.*.moe.experts.w2", "model.layers.*.mlp.experts.#.down_proj.weight"});
  return result;
}

}  // namespace

// The window's length and its first layer may stand in a config.json: without the window they mean nothing.
const HuggingFaceModel& qwen3_hugging_face() {
  static const HuggingFaceModel model{
      .model_type = "qwen3",
      .architecture = "Qwen3ForCausalLM",
      .parameters = names(),
      .keys =
          {
              {"hidden_size", "model.dim"},
              {"num_hidden_layers", "model.n_layers"},
              {"num_attention_heads", "model.n_heads"},
              {"num_key_value_heads", "model.n_kv_heads", int64_t{32}},
              {"head_dim", "model.head_dim", int64_t{128}},
              {"intermediate_size", "model.ffn_dim"},
              {"vocab_size", "model.vocab_size", int64_t{151936}},
              {"max_position_embeddings", "model.context_length", int64_t{32768}},
              {"rms_norm_eps", "model.norm_eps", 1e-6},
              {"tie_word_embeddings", "model.tie_embeddings", false},
          },
      .constants =
          {
              {"hidden_act", "\"silu\""},
              {"attention_bias", "false"},
              {"attention_dropout", "0.0"},
              {"use_sliding_window", "false"},
          },
      .ignored = {},
      .tied = {"model.embed_tokens.weight", "lm_head.weight"},
  };
  return model;
}

// Experts are stacked here and one by one there.
const HuggingFaceModel& qwen3_moe_hugging_face() {
  static const HuggingFaceModel model = [] {
    HuggingFaceModel m = qwen3_hugging_face();
    m.model_type = "qwen3_moe";
    m.architecture = "Qwen3MoeForCausalLM";
    m.parameters = moe_names();
    return m;
  }();
  return model;
}

}  // namespace tethys
