#include "train/sizes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "config/config.h"

namespace tethys {
namespace {

std::string complaint(const std::vector<std::pair<std::string, int64_t>>& values, const BatchShape& shape) {
  Config config;
  for (const auto& [name, value] : values) config.set(name, value, {Origin::Source::Flag, "--" + name});
  try {
    check_sizes(config, shape);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Sizes, ThatCannotBeCountedAreRefusedWithTheOptionsThatMakeThem) {
  // 2^20 rows × 2^20 tokens × 2^24 ids × 8 bytes = 2^67.
  EXPECT_EQ(
      complaint({{"training.local_batch_size", 1 << 20}, {"training.seq_len", 1 << 20}, {"model.vocab_size", 1 << 24}},
                {1, 1 << 20, 1 << 20}),
      "training.local_batch_size = 1048576 (--training.local_batch_size), training.seq_len = 1048576 "
      "(--training.seq_len), model.vocab_size = 16777216 (--model.vocab_size) make 1.5e+20 bytes of logits, more than "
      "can be counted; lower them");
  EXPECT_THAT(complaint({{"training.seq_len", 1 << 24}, {"training.steps", 1}}, {1, 1 << 10, 1 << 24}),
              testing::HasSubstr("attention scores"));
  EXPECT_THAT(
      complaint(
          {{"training.steps", 1000000000}, {"training.seq_len", 1 << 13}, {"training.global_batch_size", 1 << 30}},
          {1 << 20, 1 << 10, 1 << 13}),
      testing::AllOf(testing::HasSubstr("training.global_batch_size = 1073741824"),
                     testing::HasSubstr("tokens in the run")));
}

TEST(Sizes, OfExpertsThatCannotBeCountedAreRefused) {
  // 2^10 layers × 2^16 experts × 2^20 × 2^20 × 8 bytes = 2^69.
  EXPECT_THAT(complaint({{"model.n_layers", 1 << 10},
                         {"model.n_experts", 1 << 16},
                         {"model.expert_ffn_dim", 1 << 20},
                         {"model.dim", 1 << 20}},
                        {1, 8, 2048}),
              testing::AllOf(testing::HasSubstr("model.n_experts = 65536"),
                             testing::HasSubstr("make 5.9e+20 bytes of experts' weights")));
  // 2^10 rows × 2^14 tokens × 2^8 experts of a token × 2^20 × 8 bytes = 2^55; × 2^16 experts × 8 = 2^51.
  const std::vector<std::pair<std::string, int64_t>> wide = {{"model.n_experts", 1 << 16},
                                                             {"model.expert_ffn_dim", 1 << 20},
                                                             {"model.experts_per_token", 1 << 8},
                                                             {"training.seq_len", 1 << 14}};
  EXPECT_EQ(complaint(wide, {1, 1 << 10, 1 << 14}), "no error");
  EXPECT_THAT(complaint(wide, {1, 1 << 18, 1 << 14}), testing::HasSubstr("bytes of activations in the experts"));
  std::vector<std::pair<std::string, int64_t>> many = wide;
  many[1].second = 1;
  EXPECT_THAT(complaint(many, {1, 1 << 22, 1 << 14}), testing::HasSubstr("bytes of which experts tokens go to"));
  // As many rows of a dense model; nothing of one with experts is ffn_dim wide.
  EXPECT_EQ(complaint({{"model.ffn_dim", 1 << 20}, {"training.seq_len", 1 << 14}}, {1, 1 << 22, 1 << 14}), "no error");
  // Qwen3 235B: 64 M tokens a step in rows of 8192.
  const std::vector<std::pair<std::string, int64_t>> large = {
      {"model.n_layers", 94},         {"model.dim", 4096},        {"model.n_heads", 64},
      {"model.n_experts", 128},       {"model.ffn_dim", 12288},   {"model.vocab_size", 151936},
      {"model.experts_per_token", 8}, {"training.seq_len", 8192}, {"model.expert_ffn_dim", 1536}};
  EXPECT_EQ(complaint(large, {1, 8192, 8192}), "no error");
}

TEST(Sizes, OfTheLargestRunsAreCounted) {
  // Llama 3 405B: 16 M tokens a step in rows of 8192.
  const std::vector<std::pair<std::string, int64_t>> large = {
      {"model.n_layers", 126},      {"model.dim", 16384},       {"model.n_heads", 128},     {"model.ffn_dim", 53248},
      {"model.vocab_size", 128256}, {"training.seq_len", 8192}, {"training.steps", 1200000}};
  EXPECT_EQ(complaint(large, {1, 2048, 8192}), "no error");
}

}  // namespace
}  // namespace tethys
