#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/config.h"
#include "config/flags.h"
#include "runtime/testing.h"
#include "train/replay.h"

namespace tethys {
namespace {

using testing::Contains;
using testing::HasSubstr;

TEST(Replay, OfAHealthyStepFindsNothingAndNamesEachOpOnItsWay) {
  Config config;
  apply_flags(config, {"--model.dim=16", "--model.n_layers=2", "--model.n_heads=2", "--model.n_kv_heads=1",
                       "--model.ffn_dim=16", "--model.vocab_size=8", "--training.seq_len=4",
                       "--training.local_batch_size=1", "--graph.scan_layers"});
  const TrainingSetup setup = set_up(config, std::nullopt);
  const Capabilities cpu{"cpu", {}};
  Executor executor(runtime_testing::client(), setup.mesh, cpu);
  const BatchMaker maker(TokenStream::of({1, 2, 3, 4, 5}, {0}, "five tokens"), {.seq_len = 4});
  std::vector<std::string> finite;
  const auto fault = find_fault({runtime_testing::client(), 1}, cpu, setup, initial_state(executor, setup, 0),
                                {0, 1e-3, maker.make(0)}, [&](const std::string& where) { finite.push_back(where); });
  EXPECT_EQ(fault, std::nullopt);
  EXPECT_THAT(finite, Contains(HasSubstr("attention, iteration 1")));  // of the second layer, which the scan loops over
  EXPECT_THAT(finite.back(), HasSubstr("output.weight"));              // whose update is the last
}

}  // namespace
}  // namespace tethys
