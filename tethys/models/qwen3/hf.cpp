#include "models/qwen3/hf.h"

namespace tethys {
namespace {

std::vector<HuggingFaceName> with_head_norms(std::vector<HuggingFaceName> names) {
  names.push_back({"layers.*.attention.q_norm.weight", "model.layers.*.self_attn.q_norm.weight"});
  names.push_back({"layers.*.attention.k_norm.weight", "model.layers.*.self_attn.k_norm.weight"});
  return names;
}

// Of both; what is absent in a config.json means another thing in each.
std::vector<HuggingFaceKey> keys(std::vector<HuggingFaceKey> own) {
  std::vector<HuggingFaceKey> all = {
      {"hidden_size", "model.dim"},
      {"num_hidden_layers", "model.n_layers"},
      {"num_attention_heads", "model.n_heads"},
      {"vocab_size", "model.vocab_size", int64_t{151936}},
      {"max_position_embeddings", "model.context_length", int64_t{32768}},
      {"rms_norm_eps", "model.norm_eps", 1e-6},
      {"tie_word_embeddings", "model.tie_embeddings", false},
  };
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

// The window's length and its first layer may stand in a config.json: without the window they mean nothing.
std::vector<HuggingFaceConstant> constants(std::vector<HuggingFaceConstant> own) {
  std::vector<HuggingFaceConstant> all = {
      {"hidden_act", "\"silu\""},
      {"attention_bias", "false"},
      {"attention_dropout", "0.0"},
      {"use_sliding_window", "false"},
  };
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

const HuggingFaceName kTied{"model.embed_tokens.weight", "lm_head.weight"};

}  // namespace

const HuggingFaceModel& qwen3_hugging_face() {
  static const HuggingFaceModel model{
      .model_type = "qwen3",
      .architecture = "Qwen3ForCausalLM",
      .parameters = with_head_norms(transformer_names()),
      .keys = keys({
          {"num_key_value_heads", "model.n_kv_heads", int64_t{32}},
          {"head_dim", "model.head_dim", int64_t{128}},
          {"intermediate_size", "model.ffn_dim"},
      }),
      .constants = constants({}),
      .ignored = {},
      .tied = kTied,
  };
  return model;
}

// Every layer has experts, whose number has had two keys. The dense width is kept, though nothing is that wide. How
// a trainer balances the experts (output_router_logits, router_aux_loss_coef) is not the model's.
const HuggingFaceModel& qwen3_moe_hugging_face() {
  static const HuggingFaceModel model{
      .model_type = "qwen3_moe",
      .architecture = "Qwen3MoeForCausalLM",
      .parameters = with_head_norms(moe_transformer_names()),
      .keys = keys({
          {"num_key_value_heads", "model.n_kv_heads", int64_t{4}},
          {"head_dim", "model.head_dim", int64_t{0}},
          {"intermediate_size", "model.ffn_dim", int64_t{6144}},
          {"num_experts", "model.n_experts", int64_t{128}, "num_local_experts"},
          {"num_experts_per_tok", "model.experts_per_token", int64_t{8}},
          {"moe_intermediate_size", "model.expert_ffn_dim", int64_t{768}},
      }),
      .constants = constants({
          {"decoder_sparse_step", "1"},
          {"mlp_only_layers", "[]"},
          {"norm_topk_prob", "true", "false"},
      }),
      .ignored = {},
      .tied = kTied,
  };
  return model;
}

}  // namespace tethys
