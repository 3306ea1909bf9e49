#include "models/llama3/hf.h"

namespace tethys {

const HuggingFaceModel& llama_hugging_face() {
  static const HuggingFaceModel model{
      .model_type = "llama",
      .architecture = "LlamaForCausalLM",
      .parameters = transformer_names(),
      .keys =
          {
              {"hidden_size", "model.dim"},
              {"num_hidden_layers", "model.n_layers"},
              {"num_attention_heads", "model.n_heads"},
              {.key = "num_key_value_heads", .option = "model.n_kv_heads", .like = "num_attention_heads"},
              {"head_dim", "model.head_dim", int64_t{0}},
              {"intermediate_size", "model.ffn_dim"},
              {"vocab_size", "model.vocab_size"},
              {"max_position_embeddings", "model.context_length", int64_t{2048}},
              {"rms_norm_eps", "model.norm_eps", 1e-6},
              {"tie_word_embeddings", "model.tie_embeddings", false},
          },
      .constants =
          {
              {"hidden_act", "\"silu\""},
              {"attention_bias", "false"},
              {"attention_dropout", "0.0"},
              {"mlp_bias", "false"},
          },
      .ignored = {"model.layers.*.self_attn.rotary_emb.inv_freq"},
      .tied = {"model.embed_tokens.weight", "lm_head.weight"},
  };
  return model;
}

}  // namespace tethys
