#include "train/fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/units.h"
#include "config/config.h"

namespace tethys {
namespace {

using testing::HasSubstr;
using testing::Not;

template <typename Check>
std::string refusal(Check&& check) {
  try {
    check();
  } catch (const DoesNotFitError& error) {
    return error.what();
  }
  return "fits";
}

TEST(Fit, AStepIsRefusedWithBothFiguresAndWhatToLower) {
  Config config;
  config.set("parallelism.data_parallel_replicate_degree", int64_t{4}, {});
  config.set("checkpoint.async_mode", std::string("none"), {});
  const TrainingSetup setup = set_up(config, std::nullopt);
  pjrt::MemoryStats step;
  step.arguments = 3 * kGiB;
  step.outputs = 3 * kGiB;
  step.aliased = 3 * kGiB;
  step.temporaries = 5 * kGiB;
  EXPECT_EQ(refusal([&] { check_step_fits(step, setup, 32 * kGiB, config); }), "fits");
  const std::string message = refusal([&] { check_step_fits(step, setup, 32 * kGiB - 1, config); });
  EXPECT_THAT(message,
              HasSubstr("needs 32.0 GiB on 4 devices of this machine (12.0 of state and batch, 20.0 of temporaries, "
                        "0.0 of the copy that is saved)"));
  EXPECT_THAT(message, HasSubstr("has 32.0 GiB"));
  EXPECT_THAT(message, HasSubstr("\n  --training.local_batch_size 4: "));
  EXPECT_THAT(message, HasSubstr("--graph.remat full"));
  EXPECT_THAT(message, Not(HasSubstr("async_mode")));
  config.set("graph.remat", std::string("full"), {});
  EXPECT_THAT(refusal([&] { check_step_fits(step, setup, kGiB, config); }), Not(HasSubstr("--graph.remat full")));
}

TEST(Fit, AStepThatIsSavedInTheBackgroundNeedsRoomForTheCopyOfTheState) {
  Config config;
  const TrainingSetup setup = set_up(config, std::nullopt);
  pjrt::MemoryStats step;
  step.temporaries = 5 * kGiB;
  const int64_t needed = step.temporaries + static_cast<int64_t>(state_bytes(setup));
  EXPECT_EQ(refusal([&] { check_step_fits(step, setup, needed, config); }), "fits");
  EXPECT_THAT(refusal([&] { check_step_fits(step, setup, needed - 1, config); }),
              HasSubstr("--checkpoint.async_mode none: steps wait for saves"));
  config.set("checkpoint.enable", false, {});
  EXPECT_EQ(refusal([&] { check_step_fits(step, setup, needed - 1, config); }), "fits");
}

TEST(Fit, AStateIsThreeNumbersForEachParameterOfEachReplica) {
  Config config;
  TrainingSetup setup = set_up(config, std::nullopt);
  int64_t parameters = 0;
  setup.model->for_each_parameter([&](Parameter& parameter) { parameters += parameter.elements(); });
  EXPECT_EQ(state_bytes(setup), 3.0 * 4 * parameters);
  EXPECT_EQ(refusal([&] { check_state_fits(setup, 12 * parameters, config); }), "fits");
  EXPECT_THAT(
      refusal([&] { check_state_fits(setup, 12 * parameters - 1, config); }),
      testing::AllOf(HasSubstr("on 1 device of this machine"), HasSubstr("lower model.n_layers = 6 (default)")));
  config.set("parallelism.data_parallel_replicate_degree", int64_t{2}, {});
  config.set("training.dtype", std::string("float64"), {});
  EXPECT_EQ(state_bytes(set_up(config, std::nullopt)), 2.0 * 3 * 8 * parameters);
}

TEST(Fit, ParametersAreOneNumberEachOnAsManyDevicesAsHoldThem) {
  Config config;
  TrainingSetup setup = set_up(config, std::nullopt);
  int64_t parameters = 0;
  setup.model->for_each_parameter([&](Parameter& parameter) { parameters += parameter.elements(); });
  EXPECT_EQ(refusal([&] { check_parameters_fit(setup, 4 * parameters, config, "training.dtype"); }), "fits");
  EXPECT_THAT(refusal([&] { check_parameters_fit(setup, 4 * parameters - 1, config, "training.dtype"); }),
              testing::AllOf(HasSubstr("on 1 device of this machine"),
                             HasSubstr("a narrower training.dtype = \"float32\" (default)")));
  config.set("parallelism.data_parallel_replicate_degree", int64_t{2}, {});
  const TrainingSetup two = set_up(config, std::nullopt);
  EXPECT_EQ(refusal([&] { check_parameters_fit(two, 8 * parameters, config, "training.dtype"); }), "fits");
  EXPECT_NE(refusal([&] { check_parameters_fit(two, 8 * parameters - 1, config, "training.dtype"); }), "fits");
}

TEST(Fit, AnEvaluationIsRefusedWithBothFiguresAndWhatToLower) {
  Config config;
  config.set("parallelism.data_parallel_replicate_degree", int64_t{2}, {});
  const TrainingSetup setup = set_up(config, std::nullopt);
  pjrt::MemoryStats program;
  program.arguments = 1 * kGiB;
  program.temporaries = 3 * kGiB;
  EXPECT_EQ(refusal([&] { check_evaluation_fits(program, setup, 8 * kGiB, config); }), "fits");
  EXPECT_EQ(
      refusal([&] { check_evaluation_fits(program, setup, 8 * kGiB - 1, config); }),
      "a batch needs 8.0 GiB on 2 devices of this machine (2.0 of parameters and rows, 6.0 of temporaries), which "
      "has 8.0 GiB of memory; lower training.local_batch_size = 8 (default) or training.seq_len = 2048 (default)");
}

}  // namespace
}  // namespace tethys
