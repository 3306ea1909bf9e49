// tethys convert from outside; nothing here runs on a device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "checkpoint/hugging_face.h"
#include "checkpoint/store.h"
#include "tools/testing.h"

namespace tethys {
namespace {

using nlohmann::json;
using testing::HasSubstr;

struct Sizes {
  int64_t dim = 32, layers = 2, heads = 4, kv_heads = 2, ffn = 48, vocab = 300;
  bool tied = false;
  std::string architecture = "llama3";
  int64_t head_dim = 8;
  int64_t experts = 0, expert_ffn = 24;
};

// The names and shapes of a model of Tethys.
std::map<std::string, Dims> shapes_of(const Sizes& s) {
  const int64_t width = s.heads * s.head_dim, kv = s.kv_heads * s.head_dim;
  std::map<std::string, Dims> shapes = {{"tok_embeddings.weight", {s.vocab, s.dim}}, {"norm.weight", {s.dim}}};
  if (!s.tied) shapes["output.weight"] = {s.vocab, s.dim};
  for (int64_t i = 0; i < s.layers; ++i) {
    const std::string layer = fmt::format("layers.{}.", i);
    for (const char* norm : {"attention_norm", "ffn_norm"}) shapes[layer + norm + ".weight"] = {s.dim};
    shapes[layer + "attention.wq.weight"] = {width, s.dim};
    shapes[layer + "attention.wo.weight"] = {s.dim, width};
    for (const char* narrow : {"wk", "wv"}) shapes[layer + "attention." + narrow + ".weight"] = {kv, s.dim};
    for (const char* norm : {"q_norm", "k_norm"}) {
      if (s.architecture.starts_with("qwen3")) shapes[layer + "attention." + norm + ".weight"] = {s.head_dim};
    }
    if (s.experts == 0) {
      for (const char* up : {"w1", "w3"}) shapes[layer + "feed_forward." + up + ".weight"] = {s.ffn, s.dim};
      shapes[layer + "feed_forward.w2.weight"] = {s.dim, s.ffn};
      continue;
    }
    shapes[layer + "moe.expert_bias"] = {s.experts};
    shapes[layer + "moe.router.gate.weight"] = {s.experts, s.dim};
    for (const char* up : {"w1", "w3"}) shapes[layer + "moe.experts." + up] = {s.experts, s.expert_ffn, s.dim};
    shapes[layer + "moe.experts.w2"] = {s.experts, s.dim, s.expert_ffn};
  }
  return shapes;
}

// Some float32 values, other ones in each tensor.
void fill(const std::string& name, std::span<std::byte> out) {
  auto seed = static_cast<uint32_t>(std::hash<std::string>()(name));
  for (size_t i = 0; i + sizeof(float) <= out.size(); i += sizeof(float)) {
    seed = seed * 1664525U + 1013904223U;
    const float value = static_cast<float>(seed >> 8) * 0x1p-24F - 0.5F;
    std::memcpy(out.data() + i, &value, sizeof(float));
  }
}

void make_run(const Path& folder, const Sizes& s) {
  std::vector<PieceSource> pieces;
  for (const auto& [name, dims] : shapes_of(s)) {
    for (const std::string prefix : {"", "optimizer.m.", "optimizer.v."}) {
      pieces.push_back({prefix + name, {DType::F32, dims}, whole(dims), [name = name](std::span<std::byte> out) {
                          fill(name, out);
                        }});
    }
  }
  CheckpointStore(folder / "checkpoint").save({.step = 7, .fingerprint = "", .seed = 0, .data_position = 0}, pieces, 0);
  write_file(folder / "config.toml",
             fmt::format("[model]\nname = \"{}\"\nhead_dim = {}\ndim = {}\nn_layers = "
                         "{}\nn_heads = {}\nn_kv_heads = {}\nffn_dim = {}\nn_experts = "
                         "{}\nexperts_per_token = {}\nexpert_ffn_dim = {}\nvocab_size = "
                         "{}\ntie_embeddings = {}\n[data]\ntokenizer = \"{}\"\n",
                         s.architecture, s.head_dim, s.dim, s.layers, s.heads, s.kv_heads, s.ffn, s.experts,
                         s.experts == 0 ? 1 : 2, s.expert_ffn, s.vocab, s.tied, corpus().tokenizer()));
}

Ended convert(const Path& from, const Path& to, std::vector<std::string> flags = {}) {
  return run_tethys(std::vector<std::string>{"convert", from.string(), "--output", to.string()} + flags);
}

std::map<std::string, std::string> files_in(const Path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files[entry.path().lexically_relative(folder)] = read_file(entry.path());
  }
  return files;
}

class Exported : public testing::TestWithParam<Sizes> {
 protected:
  Exported() { make_run(folder_ / "run", GetParam()); }
  TemporaryFolder folder_;
};

TEST_P(Exported, ImportedAndExportedAgainIsTheSameInEveryByte) {
  for (const std::vector<std::string>& flags :
       {std::vector<std::string>{}, {"--max_shard_size", "10KB"}, {"--dtype", "bfloat16"}, {"--dtype", "float16"}}) {
    const TemporaryFolder out;
    expect_done(convert(folder_ / "run", out / "first", flags));
    expect_done(convert(out / "first", out / "run"));
    const std::vector<std::string> shards =
        flags.size() > 1 && flags[0] == "--max_shard_size" ? flags : std::vector<std::string>();
    expect_done(convert(out / "run", out / "second", shards));
    EXPECT_EQ(files_in(out / "first"), files_in(out / "second")) << testing::PrintToString(flags);
    const bool sharded = std::filesystem::exists(out / "first/model.safetensors.index.json");
    EXPECT_EQ(sharded, !shards.empty());
  }
}

TEST_P(Exported, HoldsTheWeightsUnderTheirNamesAndTheTokenizer) {
  const Path output = folder_ / "hf";
  const Ended ended = convert(folder_ / "run/checkpoint/step-00000007", output);
  expect_done(ended);
  const bool left =
      ended.output.find("layers.*.moe.expert_bias is not zero and has no place there") != std::string::npos;
  EXPECT_EQ(left, GetParam().experts > 0) << ended.output;
  const SafetensorsFile file(output / "model.safetensors");
  const int64_t experts = GetParam().experts, layers = GetParam().layers;
  // Of a layer's stacks of experts each is as many tensors; its bias is none.
  const int64_t more = experts == 0 ? 0 : layers * (3 * (experts - 1) - 1);
  EXPECT_EQ(static_cast<int64_t>(file.entries().size()), static_cast<int64_t>(shapes_of(GetParam()).size()) + more);
  EXPECT_EQ(file.find("lm_head.weight") == nullptr, GetParam().tied);
  const auto expect_part = [&](const std::string& ours, const std::string& theirs, const Dims& dims, int64_t part) {
    const SafetensorsEntry* entry = file.find(theirs);
    ASSERT_NE(entry, nullptr) << theirs;
    EXPECT_EQ(entry->type, (TensorType{DType::F32, dims})) << theirs;
    const auto size = static_cast<size_t>(element_count(dims)) * sizeof(float);
    std::vector<std::byte> expected(static_cast<size_t>(part + 1) * size);
    fill(ours, expected);
    EXPECT_TRUE(std::ranges::equal(file.bytes(*entry), std::span(expected).last(size))) << theirs;
  };
  if (experts == 0) {
    expect_part("layers.1.feed_forward.w2.weight", "model.layers.1.mlp.down_proj.weight", {32, 48}, 0);
  } else {
    expect_part("layers.1.moe.experts.w1", "model.layers.1.mlp.experts.2.gate_proj.weight", {24, 32}, 2);
    expect_part("layers.0.moe.experts.w3", "model.layers.0.mlp.experts.0.up_proj.weight", {24, 32}, 0);
    expect_part("layers.1.moe.experts.w2", "model.layers.1.mlp.experts.3.down_proj.weight", {32, 24}, 3);
  }
  EXPECT_EQ(read_file(output / "tokenizer.json"), read_file(corpus().tokenizer()));
  const json tokenizer = json::parse(read_file(output / "tokenizer_config.json"));
  EXPECT_EQ(tokenizer.at("eos_token"), "<|end_of_text|>");
  EXPECT_EQ(json::parse(read_file(output / "config.json")).at("tie_word_embeddings"), GetParam().tied);
  EXPECT_EQ(json::parse(read_file(output / "generation_config.json")).at("eos_token_id"), 299);
}

std::string label(const testing::TestParamInfo<Sizes>& info) {
  return info.param.architecture + (info.param.tied ? "_tied" : "_untied");
}

INSTANTIATE_TEST_SUITE_P(All, Exported,
                         testing::Values(Sizes{.tied = true}, Sizes{.tied = false},
                                         Sizes{.tied = true, .architecture = "qwen3", .head_dim = 16},
                                         Sizes{.architecture = "qwen3_moe", .experts = 4}),
                         label);

// An exported folder whose config.json or weights are then changed.
class HuggingFaceInput : public testing::Test {
 protected:
  explicit HuggingFaceInput(const Sizes& sizes = {.tied = true}) {
    make_run(folder_ / "run", sizes);
    expect_done(convert(folder_ / "run", folder_ / "hf"));
    config_ = json::parse(read_file(folder_ / "hf/config.json"));
  }

  // The exported weights, and these besides or in their place, by name; empty dims leave a tensor out.
  void write_weights(const std::map<std::string, TensorType>& changed) {
    const SafetensorsFile file(folder_ / "hf/model.safetensors");
    std::vector<SafetensorsSource> sources;
    for (const SafetensorsEntry& e : file.entries()) {
      if (!changed.contains(e.name)) sources.push_back({e.name, e.type, {}, [&file, &e] { return file.bytes(e); }});
    }
    for (const auto& [name, type] : changed) {
      const auto zero = [](std::span<std::byte> out) { std::fill(out.begin(), out.end(), std::byte{0}); };
      if (!type.dims.empty()) sources.push_back({name, type, zero});
    }
    std::filesystem::create_directories(folder_ / "changed");
    write_file(folder_ / "changed/config.json", config_.dump());
    write_safetensors(folder_ / "changed/model.safetensors", sources);
  }

  void expect_refused(const std::vector<std::string>& reasons) {
    const Ended ended = convert(folder_ / "changed", folder_ / "out");
    EXPECT_EQ(ended.status, 2) << ended.output;
    for (const std::string& reason : reasons) EXPECT_THAT(ended.output, HasSubstr(reason));
    EXPECT_FALSE(std::filesystem::exists(folder_ / "out"));
  }

  TemporaryFolder folder_;
  json config_;
};

TEST_F(HuggingFaceInput, AConfigThatIsNotOfAModelWeHaveIsRefusedByItsKey) {
  write_weights({});
  const auto with = [&](const std::string& patch) {
    json changed = config_;
    changed.merge_patch(json::parse(patch));
    return changed.dump();
  };
  const std::pair<std::string, std::string> cases[] = {
      {"{", "not valid JSON"},
      {"[1]", "expected an object, got array"},
      {with(R"({"model_type":"mistral"})"), "model_type is \"mistral\", and the models that Tethys has are: llama"},
      {with(R"({"model_type":null})"), "\"model_type\" is missing"},
      {with(R"({"hidden_size":null})"), "\"hidden_size\" is missing"},
      {with(R"({"hidden_size":"32"})"), "hidden_size is \"32\", expected an int, at least 1"},
      {with(R"({"hidden_size":32.5})"), "hidden_size is 32.5, expected an int"},
      {with(R"({"hidden_size":-1})"), "config.json: hidden_size: "},
      {with(R"({"hidden_size":18446744073709551615})"), "config.json: hidden_size: "},
      {with(R"({"num_attention_heads":5})"), "does not divide"},
      {with(R"({"hidden_act":"gelu"})"), "hidden_act is \"gelu\", and only \"silu\" is supported"},
      {with(R"({"attention_bias":true})"), "attention_bias is true, and only false is supported"},
      {with(R"({"head_dim":15})"), "model.head_dim = 15"},
      {with(R"({"quantization_config":{"bits":4}})"), "quantised weights are not read"},
      {with(R"({"rope_scaling":{"rope_type":"yarn"}})"), "rope_type is \"yarn\""},
      {with(R"({"rope_scaling":{"factor":null}})"), "\"factor\""},
      {with(R"({"rope_scaling":"llama3"})"), "expected an object"},
  };
  for (const auto& [config, reason] : cases) {
    write_file(folder_ / "changed/config.json", config);
    expect_refused({reason});
  }
}

// A run has no config.json that could say it.
TEST_F(HuggingFaceInput, WhereAModelStopsComesAlongFromWhicheverFileSaysIt) {
  config_["eos_token_id"] = {298, 299};
  write_weights({});
  const auto stops_of = [&](const char* run) {
    expect_done(convert(folder_ / "changed", folder_ / run));
    return json::parse(read_file(folder_ / run / "generation_config.json")).at("eos_token_id");
  };
  EXPECT_EQ(stops_of("from_config"), json({298, 299}));
  write_file(folder_ / "changed/generation_config.json", R"({"eos_token_id": [297, 299]})");
  EXPECT_EQ(stops_of("from_generation_config"), json({297, 299}));
}

TEST_F(HuggingFaceInput, WeightsThatAreNotTheConfigsAreShownByName) {
  const std::string up = "model.layers.0.mlp.up_proj.weight", norm = "model.norm.weight";
  write_weights({{up, {}}, {norm, {DType::F32, {31}}}, {"model.extra", {DType::F32, {2}}}});
  expect_refused({"3 of its tensors differ", up + ": expected f32[48,32], the checkpoint has no such tensor",
                  norm + ": expected f32[32], the checkpoint has f32[31]",
                  "model.extra: expected no such tensor, the checkpoint has f32[2]"});
  config_["head_dim"] = 16;
  write_weights({});
  expect_refused({"model.layers.0.self_attn.q_proj.weight: expected f32[64,32], the checkpoint has f32[32,32]"});
  config_["head_dim"] = 8;
  write_weights({{up, {DType::U8, {48, 32}}}});
  expect_refused({up + ": expected f32[48,32], the checkpoint has u8[48,32]"});
  write_weights({{"lm_head.weight", {DType::F32, {300, 32}}}});
  expect_refused({"ties lm_head.weight to model.embed_tokens.weight, but their values differ"});
  config_["tie_word_embeddings"] = false;
  write_weights({});
  expect_refused({"lm_head.weight: expected f32[300,32], the checkpoint has no such tensor"});
}

TEST_F(HuggingFaceInput, ATiedModelMayHoldTheOutputToo) {
  write_weights({{"lm_head.weight", {}}, {"model.layers.0.self_attn.rotary_emb.inv_freq", {DType::F32, {4}}}});
  std::vector<SafetensorsSource> sources;
  const SafetensorsFile changed(folder_ / "changed/model.safetensors");
  for (const SafetensorsEntry& e : changed.entries()) {
    sources.push_back({e.name, e.type, {}, [&] { return changed.bytes(e); }});
  }
  const SafetensorsEntry& embedding = *changed.find("model.embed_tokens.weight");
  sources.push_back({"lm_head.weight", embedding.type, {}, [&] { return changed.bytes(embedding); }});
  std::filesystem::create_directories(folder_ / "both");
  write_safetensors(folder_ / "both/model.safetensors", sources);
  write_file(folder_ / "both/config.json", config_.dump());
  expect_done(convert(folder_ / "both", folder_ / "again"));
  expect_done(convert(folder_ / "again", folder_ / "back", {"--data.tokenizer", corpus().tokenizer()}));
  EXPECT_EQ(read_file(folder_ / "back/model.safetensors"), read_file(folder_ / "hf/model.safetensors"));
}

class MoeInput : public HuggingFaceInput {
 protected:
  MoeInput() : HuggingFaceInput({.architecture = "qwen3_moe", .experts = 4}) {}
};

TEST_F(MoeInput, ExpertsThatAreNotTheConfigsAreShownByTheirNames) {
  const auto expert = [](int number, const char* matrix) {
    return fmt::format("model.layers.1.mlp.experts.{}.{}.weight", number, matrix);
  };
  write_weights({{expert(3, "gate_proj"), {}},
                 {expert(0, "down_proj"), {DType::F32, {24, 32}}},
                 {expert(4, "up_proj"), {DType::F32, {24, 32}}}});
  expect_refused({"3 of its tensors differ",
                  expert(3, "gate_proj") + ": expected f32[24,32], the checkpoint has no such tensor",
                  expert(0, "down_proj") + ": expected f32[32,24], the checkpoint has f32[24,32]",
                  expert(4, "up_proj") + ": expected no such tensor, the checkpoint has f32[24,32]"});
  write_weights({{expert(2, "up_proj"), {DType::BF16, {24, 32}}}});
  expect_refused({expert(0, "up_proj") + " is f32 and " + expert(2, "up_proj") +
                  " is bf16; the experts' matrices of a layer have one dtype"});
}

TEST_F(MoeInput, ConfigsOfOtherMixturesAreRefusedByTheKeyAndThoseOfBothSpellingsAreTaken) {
  write_weights({});
  const auto with = [&](const std::string& patch) {
    json changed = config_;
    changed.merge_patch(json::parse(patch));
    write_file(folder_ / "changed/config.json", changed.dump());
  };
  const std::pair<const char*, const char*> refused[] = {
      {R"({"norm_topk_prob":null})", "norm_topk_prob is missing, which stands for false, and only true is supported"},
      {R"({"norm_topk_prob":false})", "norm_topk_prob is false, and only true is supported"},
      {R"({"decoder_sparse_step":2})", "decoder_sparse_step is 2, and only 1 is supported"},
      {R"({"mlp_only_layers":[0]})", "mlp_only_layers is [0], and only [] is supported"},
      {R"({"num_experts_per_tok":5})", "is more than model.n_experts = 4"},
      {R"({"num_experts":null,"num_local_experts":"4"})", "num_local_experts is \"4\", expected an int"},
  };
  for (const auto& [patch, reason] : refused) {
    with(patch);
    expect_refused({reason});
  }
  // As transformers 5 writes it, which trains with a loss for the balance besides.
  with(R"({"num_experts":null,"num_local_experts":4,"decoder_sparse_step":null,"mlp_only_layers":null,
           "output_router_logits":true,"router_aux_loss_coef":0.001})");
  expect_done(convert(folder_ / "changed", folder_ / "out"));
  expect_done(convert(folder_ / "out", folder_ / "back", {"--data.tokenizer", corpus().tokenizer()}));
  EXPECT_EQ(read_file(folder_ / "back/model.safetensors"), read_file(folder_ / "hf/model.safetensors"));
  EXPECT_EQ(json::parse(read_file(folder_ / "back/config.json")), config_);
}

TEST_F(HuggingFaceInput, MistakesOfTheCommandLineSayWhatToGive) {
  const auto expect = [](const Ended& ended, const std::string& text) {
    EXPECT_EQ(ended.status, 2) << ended.output;
    EXPECT_THAT(ended.output, HasSubstr(text));
  };
  expect(run_tethys({"convert", (folder_ / "run").string()}), "give the folder to write by --output FOLDER");
  expect(convert(folder_ / "run", folder_ / "hf"), "is there already and not an empty folder");
  expect(convert(folder_ / "none", folder_ / "out"), "is neither a run or a checkpoint of one");
  expect(convert(folder_ / "run", folder_ / "out", {"--max_shard_size", "5XB"}), "such as 500MB or 5GB");
  expect(convert(folder_ / "run", folder_ / "out", {"--max_shard_size", "0"}), "such as 500MB or 5GB");
  expect(convert(folder_ / "run", folder_ / "out", {"--data.tokenizer", "/none/tokenizer.json"}),
         "/none/tokenizer.json");
  expect(convert(folder_ / "hf", folder_ / "out", {"--recipe", "llama3_8b"}), "which brings its own");
  expect(convert(folder_ / "run", folder_ / "out", {"--recipe", "llama3_8b"}), "tensors differ");
}

// 8 MiB in the largest tensors: of a dense model, and of one whose experts are one tensor here and 16 there.
class ConvertLarge : public testing::TestWithParam<Sizes> {};

TEST_P(ConvertLarge, HoldsOneTensorInMemory) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "a sanitizer keeps what is freed for a while";
#endif
  const TemporaryFolder folder;
  make_run(folder / "run", GetParam());
  int64_t total = 0;
  for (const auto& [name, dims] : shapes_of(GetParam())) total += element_count(dims) * 4;
  ASSERT_GT(total, 150 * kMiB);
  const Ended nothing = run_tethys({"convert", "--help"});
  const Ended out = convert(folder / "run", folder / "hf", {"--max_shard_size", "60MB"});
  const Ended narrow = convert(folder / "hf", folder / "again", {"--dtype", "bfloat16"});
  for (const Ended& ended : {out, narrow}) {
    expect_done(ended);
    EXPECT_LT(ended.peak_memory - nothing.peak_memory, 32 * kMiB);
  }
}

INSTANTIATE_TEST_SUITE_P(All, ConvertLarge,
                         testing::Values(Sizes{.dim = 512, .layers = 6, .ffn = 4096, .vocab = 4096, .tied = true},
                                         Sizes{.dim = 512,
                                               .layers = 6,
                                               .vocab = 4096,
                                               .tied = true,
                                               .architecture = "qwen3_moe",
                                               .experts = 16,
                                               .expert_ffn = 256}),
                         label);

}  // namespace
}  // namespace tethys
