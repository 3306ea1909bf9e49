// What a step does to its state besides the plain update: nothing after a fault, other settings for some parameters,
// and narrow computing.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "training_testing.h"

namespace tethys::training_testing {
namespace {

using LlamaRun = Run;  // gtest has a Run of its own in every test

constexpr int64_t kRows = 4;
constexpr int64_t kSeqLen = 16;
const Model kModel{.dim = 16, .layers = 2, .heads = 4, .kv_heads = 2, .ffn = 24, .vocab = 37};

Run::Outcome step(Run& run, int64_t number, double learning_rate) {
  std::vector<int32_t> tokens, labels;
  for (int64_t i = 0; i < kRows * kSeqLen; ++i) {
    tokens.push_back(static_cast<int32_t>((i * 7 + number) % kModel.vocab));
    labels.push_back(static_cast<int32_t>((i * 7 + number + 7) % kModel.vocab));
  }
  const Dims dims{kRows, kSeqLen};
  return run.step(number, learning_rate, HostTensor::of<int32_t>(dims, tokens), HostTensor::of<int32_t>(dims, labels));
}

TEST(TrainingState, AStepThatIsNotFiniteChangesNothingAndNorDoesAnyAfterIt) {
  Variant variant{.name = "FSDP 2", .mesh = Mesh({{"dp_shard", 2}}), .scan = true, .remat = {}, .dtype = DType::F32};
  LlamaRun run(kModel, variant, kRows, kSeqLen);
  EXPECT_TRUE(step(run, 0, 1e-3).ok);
  const Named before = run.parameters();
  EXPECT_TRUE(step(run, 1, 1e30).ok);  // this loss is still finite, the next one's parameters are far too large
  const Named parameters = run.parameters(), m = run.m(), v = run.v();
  EXPECT_NE(parameters, before);
  const LlamaRun::Outcome bad = step(run, 2, 1e-3);
  EXPECT_FALSE(bad.ok);
  EXPECT_FALSE(std::isfinite(bad.loss) && std::isfinite(bad.norm));
  for (int64_t number = 3; number < 5; ++number) {
    EXPECT_FALSE(step(run, number, 1e-3).ok);
    EXPECT_EQ(run.parameters(), parameters);
    EXPECT_EQ(run.m(), m);
    EXPECT_EQ(run.v(), v);
  }
}

// Nine parameters a block, after the embedding.
std::vector<GroupSettings> second_layer_frozen() {
  std::vector<GroupSettings> groups(1 + 2 * 9 + 2, {1, 0.1});
  for (size_t i = 10; i < 19; ++i) groups[i] = {0, 0.1};
  groups[0] = {0.5, 0};
  return groups;
}

TEST(TrainingState, GroupsReachSingleLayersOfAStack) {
  Variant variant{.name = "groups", .mesh = {}, .remat = {}};
  variant.groups = second_layer_frozen();
  LlamaRun alone(kModel, variant, kRows, kSeqLen);
  variant.scan = true;
  LlamaRun stacked(kModel, variant, kRows, kSeqLen);
  const Named before = stacked.parameters();
  step(alone, 0, 1e-2);
  step(stacked, 0, 1e-2);
  const Named expected = alone.parameters();
  for (const auto& [name, values] : stacked.parameters()) {
    if (name.starts_with("layers.1.")) {
      EXPECT_EQ(values, before.at(name)) << name;
    } else {
      EXPECT_NE(values, before.at(name)) << name;
    }
    for (size_t i = 0; i < values.size(); ++i) ASSERT_NEAR(values[i], expected.at(name)[i], 1e-9) << name;
  }
}

TEST(TrainingState, ComputingInBfloat16KeepsStateAndGradientsInFloat32) {
  Variant variant{.name = "bf16", .mesh = Mesh({{"dp_shard", 2}}), .scan = true, .remat = {}, .dtype = DType::F32};
  LlamaRun fine(kModel, variant, kRows, kSeqLen);
  variant.compute_dtype = DType::BF16;
  LlamaRun narrow(kModel, variant, kRows, kSeqLen);
  for (const StoredParameter& p : narrow.store()) EXPECT_EQ(p.type.dtype, DType::F32);
  const LlamaRun::Outcome expected = step(fine, 0, 1e-3);
  const LlamaRun::Outcome got = step(narrow, 0, 1e-3);
  EXPECT_NE(got.loss, expected.loss);
  EXPECT_NEAR(got.loss, expected.loss, 0.01 * expected.loss);
  EXPECT_NEAR(got.norm, expected.norm, 0.02 * expected.norm);
  const Named gradients = fine.gradients();
  int64_t finer = 0;
  for (const auto& [name, values] : narrow.gradients()) {
    double error = 0, size = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      error += std::pow(values[i] - gradients.at(name)[i], 2);
      size += std::pow(gradients.at(name)[i], 2);
      const auto value = static_cast<float>(values[i]);
      uint32_t bits;
      std::memcpy(&bits, &value, sizeof bits);
      finer += (bits & 0xffff) != 0;  // has digits that bfloat16 lacks
    }
    EXPECT_LT(std::sqrt(error / size), 0.05) << name;
  }
  EXPECT_GT(finer, 1000);
}

}  // namespace
}  // namespace tethys::training_testing
