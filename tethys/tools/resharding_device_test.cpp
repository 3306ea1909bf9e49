// A run that was saved on four devices goes on, on any other mesh, as if it had not moved; and what it hands to others
// is the same to the last byte wherever it was saved.
#include <gtest/gtest.h>

#include "tools/testing.h"

namespace tethys {
namespace {

struct Model {
  const char* name;
  Flags flags;
  std::vector<std::pair<const char*, Flags>> meshes;  // that it is loaded on
};
void PrintTo(const Model& model, std::ostream* out) { *out << model.name; }

Flags mesh(const char* shard, const char* tensor, const char* rows) {
  return {"--parallelism.data_parallel_shard_degree",
          shard,
          "--parallelism.tensor_parallel_degree",
          tensor,
          "--training.local_batch_size",
          rows};
}

Flags with_experts(Flags flags, const char* degree) {
  return std::move(flags) + Flags{"--parallelism.expert_parallel_degree", degree};
}

// Eight rows a step on every mesh; 301 words and 18 hidden units of an expert divide by nothing.
const Flags kCommon = {"--training.dtype",      "float64", "--training.global_batch_size", "8",
                       "--checkpoint.interval", "2",       "--lr_scheduler.warmup_steps",  "0",
                       "--model.vocab_size",    "301"};
const Model kDense{"llama3",
                   {"--graph.scan_layers"},
                   {{"one", mesh("1", "1", "8")}, {"fsdp2_tp2", mesh("2", "2", "4")}, {"fsdp8", mesh("8", "1", "1")}}};
const Model kExperts{"qwen3_moe",
                     {"--model.name", "qwen3_moe", "--model.head_dim", "12", "--model.n_experts", "4",
                      "--model.experts_per_token", "2", "--model.expert_ffn_dim", "18"},
                     {{"one", mesh("1", "1", "8")},
                      {"fsdp2_tp2_ep4", with_experts(mesh("2", "2", "4"), "4")},
                      {"fsdp8_ep2", with_experts(mesh("8", "1", "1"), "2")}}};

class SavedOnFour : public testing::TestWithParam<Model> {
 protected:
  Flags train(const std::string& run, const Flags& mesh) const {
    return corpus().train(folder_ / run) + kCommon + GetParam().flags + mesh;
  }
  Flags four() const {
    const Flags fsdp = mesh("4", "1", "2");
    return GetParam().name == kExperts.name ? with_experts(fsdp, "4") : fsdp;
  }
  // All weights at Hugging Face, after the way there.
  std::string exported(const std::string& run) const {
    const Path output = folder_ / (run + "-hf");
    expect_done(run_tethys({"convert", (folder_ / run).string(), "--output", output.string()}));
    return read_file(output / "model.safetensors");
  }

  TemporaryFolder folder_;
};

TEST_P(SavedOnFour, GoesOnWithTheSameLossesOnAnyMesh) {
  expect_done(run_tethys(train("whole", four()) + Flags{"--training.steps", "4"}));
  const auto expected = curve_of(folder_ / "whole");
  for (const auto& [name, other] : GetParam().meshes) {
    const Path run = folder_ / name;
    std::filesystem::copy(folder_ / "whole", run, std::filesystem::copy_options::recursive);
    std::filesystem::remove_all(checkpoint_of(run, 4));
    expect_done(run_tethys(train(name, other) + Flags{"--training.steps", "4", "--resume"}));
    const auto curve = curve_of(run);
    ASSERT_EQ(curve.size(), 4u) << name;
    for (size_t i = 0; i < curve.size(); ++i) {
      for (size_t k : {0, 1}) EXPECT_NEAR(curve[i][k], expected[i][k], 1e-9 * expected[i][k]) << name << ", step " << i;
    }
  }
}

// A step at a learning rate of nothing leaves the weights as they were loaded.
TEST_P(SavedOnFour, IsTheSameFolderAtHuggingFaceWhereverItWasSavedAgain) {
  expect_done(run_tethys(train("whole", four()) + Flags{"--training.steps", "2"}));
  const std::string expected = exported("whole");
  for (const auto& [name, other] : GetParam().meshes) {
    expect_done(run_tethys(train(name, other) + Flags{"--checkpoint.initial_load_path", (folder_ / "whole").string(),
                                                      "--training.steps", "1", "--optimizer.lr", "0"}));
    EXPECT_TRUE(exported(name) == expected) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, SavedOnFour, testing::Values(kDense, kExperts),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tethys
