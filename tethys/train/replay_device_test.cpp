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

// A model of two layers and the state that it begins with.
struct Small {
  explicit Small(const std::vector<std::string>& flags) {
    Config config;
    apply_flags(config, {"--model.dim=16", "--model.n_layers=2", "--model.n_heads=2", "--model.n_kv_heads=1",
                         "--model.ffn_dim=16", "--model.vocab_size=8", "--training.seq_len=4",
                         "--training.local_batch_size=1"});
    apply_flags(config, flags);
    setup = set_up(config, std::nullopt);
    executor = std::make_unique<Executor>(runtime_testing::client(), setup.mesh, cpu);
    state = initial_state(*executor, setup, 0);
  }
  std::optional<std::string> fault(const std::function<void(const std::string&)>& finite = nullptr) {
    const BatchMaker maker(TokenStream::of({1, 2, 3, 4, 5}, {0}, "five tokens"), {.seq_len = 4});
    return FaultFinder({runtime_testing::client(), 1}, cpu, setup).find(state, {2, 1e-3, maker.make(0)}, finite);
  }
  // Makes one number of the parameter of this name `value`, or all of them.
  void plant(const std::string& name, double value, bool everywhere = false) {
    for (size_t i = 0; i < setup.store.size(); ++i) {
      const StoredParameter& stored = setup.store[i];
      for (size_t m = 0; m < stored.members.size(); ++m) {
        if (stored.members[m]->name() != name) continue;
        std::vector<double> numbers = to_host(state.parameters[i]).to_doubles();
        const size_t size = numbers.size() / stored.members.size();
        std::fill_n(numbers.begin() + static_cast<std::ptrdiff_t>(m * size), everywhere ? size : 1, value);
        state.parameters[i] = to_device(executor->devices(), HostTensor::from_doubles(stored.type, numbers),
                                        stored.placement, {.kind = ArrayKind::Parameter});
        return;
      }
    }
    FAIL() << "no parameter " << name;
  }

  const Capabilities cpu{"cpu", {}};
  TrainingSetup setup;
  std::unique_ptr<Executor> executor;
  TrainingState state;
};

TEST(Replay, OfAHealthyStepFindsNothingAndNamesEachOpOnItsWay) {
  std::vector<std::string> finite;
  EXPECT_EQ(Small({"--graph.scan_layers"}).fault([&](const std::string& where) { finite.push_back(where); }),
            std::nullopt);
  EXPECT_THAT(finite, Contains(HasSubstr("layers.1.attention, iteration 1")));  // of a loop, which the first stands for
  EXPECT_THAT(finite.back(), HasSubstr("output.weight"));                       // whose update is the last
}

// Of a model that is a loop over layers, also where that stands in the loop over microbatches.
TEST(Replay, NamesTheParameterAndTheFirstOpThatReadsANaN) {
  const std::vector<std::string> graphs[] = {{}, {"--graph.scan_layers"}};
  for (const auto& flags : graphs) {
    Small small(flags);
    small.plant("layers.1.feed_forward.w2.weight", std::nan(""));
    EXPECT_THAT(small.fault().value_or("none"),
                testing::MatchesRegex("layers.1.feed_forward.w2.weight holds NaN before the step, and [a-z_]+ of "
                                      "layers.1.feed_forward.w2(, iteration 1)? gives NaN"));
  }
}

// Of zeros the norm divides by the root of eps, whose cube, which the gradient has, is beyond float32.
TEST(Replay, NamesAnOpOfTheBackward) {
  Small small({"--model.norm_eps=1.2e-38"});
  small.plant("tok_embeddings.weight", 0, true);
  std::vector<std::string> finite;
  const auto fault = small.fault([&](const std::string& where) { finite.push_back(where); });
  EXPECT_EQ(fault.value_or("none"), "multiply of norm gives infinity");
  EXPECT_THAT(finite, Contains(HasSubstr(" of output")));  // the forward was over
}

}  // namespace
}  // namespace tethys
