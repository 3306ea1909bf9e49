// tethys compile from outside: with libtpu, which `make setup-tpu` installs, and what it says without it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/units.h"
#include "config/flags.h"
#include "config/recipe.h"
#include "tools/commands.h"
#include "tools/testing.h"
#include "train/compiler_flags.h"
#include "train/machine.h"
#include "train/saved_step.h"
#include "train/setup.h"

namespace tethys {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kLibtpu = TETHYS_SOURCE_DIR "/.deps/plugins/libtpu.so";

#define NEEDS_LIBTPU() \
  if (!std::filesystem::exists(kLibtpu)) GTEST_SKIP() << "libtpu is not installed: `make setup-tpu` does that"

// One layer of the debug model, which compiles in seconds.
const Flags kSmall = {
    "compile", "llama3_debugmodel", "--model.n_layers", "1", "--training.seq_len", "128", "--model.vocab_size", "512"};

TEST(Compile, OfAStepForASliceThatIsNotThereSaysWhatItTakes) {
  NEEDS_LIBTPU();
  const TemporaryFolder folder;
  const std::string file = (folder / "compiled.json").string();
  const Ended ended = run_tethys(kSmall + Flags{"--topology", "v5e:2x2", "--json", file});
  ASSERT_EQ(ended.status, 0) << ended.output;
  EXPECT_THAT(ended.output,
              AllOf(HasSubstr("4 devices (dp_shard=4)"), HasSubstr("of 15.75 that a program may take: fits")));
  const nlohmann::json json = nlohmann::json::parse(read_file(file)).at(0);
  EXPECT_EQ(json.at("topology"), "v5e:2x2");
  EXPECT_TRUE(json.at("fits").get<bool>());
  // Embedding, output projection, four square matrices of attention, three of the feed-forward, three norms; in
  // float32, a quarter on each device.
  const int64_t parameters = 2 * 512 * 256 + 4 * 256 * 256 + 3 * 256 * 768 + 3 * 256;
  EXPECT_EQ(json.at("memory_bytes_per_device").at("parameters"), parameters);
  EXPECT_EQ(json.at("memory_bytes_per_device").at("optimizer_moments"), 2 * parameters);
  EXPECT_GT(json.at("memory_bytes_per_device").at("temporaries"), 0);
  EXPECT_THAT(ended.output, HasSubstr("largest buffers there"));
  int64_t before = std::numeric_limits<int64_t>::max();
  for (const nlohmann::json& buffer : json.at("largest_buffers")) {
    const int64_t bytes = buffer.at("count").get<int64_t>() * buffer.at("bytes").get<int64_t>();
    EXPECT_LE(bytes, before);
    before = bytes;
  }
  // Matrix products of the program: those that the formula counts, which leaves out next to nothing in a dense model.
  const nlohmann::json& estimate = json.at("estimate");
  EXPECT_EQ(estimate.at("unread_loops"), 0);
  EXPECT_NEAR(estimate.at("flops_matrix_products").get<double>() / json.at("flops_per_device_formula").get<double>(), 1,
              0.1);
  EXPECT_GT(estimate.at("step_seconds").get<double>(), 0);
  // Gradients leave by reduce-scatter: half of what all-reduces move, and norms are small.
  EXPECT_LT(estimate.at("gradient_bytes_ratio").get<double>(), 0.6);
  for (const nlohmann::json& collective : estimate.at("collectives")) EXPECT_EQ(collective.at("mesh_axes"), "dp_shard");
  EXPECT_THAT(ended.output, AllOf(HasSubstr("layers.*.feed_forward.w1"), HasSubstr("estimated MFU")));
}

TEST(Compile, OfAStepTooLargePrintsItsTableAndWhatWouldHelp) {
  NEEDS_LIBTPU();
  const TemporaryFolder folder;
  const std::string file = (folder / "compiled.json").string();
  const Ended ended =
      run_tethys(kSmall + Flags{"--topology", "v5e:1x1", "--training.local_batch_size", "1024", "--training.seq_len",
                                "4096", "--no-graph.scan_layers", "--json", file});
  EXPECT_EQ(ended.status, 3) << ended.output;
  EXPECT_THAT(ended.output, AllOf(HasSubstr("does not fit"), HasSubstr("CompileTimeHbmOom"), HasSubstr("temporaries"),
                                  HasSubstr("activations"), HasSubstr("MiB  activation"),
                                  HasSubstr("--graph.remat full"), HasSubstr("--training.local_batch_size 512")));
  // The compiler names the sum of it all: "… temporaries (1.53T) exceeds …".
  const nlohmann::json json = nlohmann::json::parse(read_file(file)).at(0);
  const std::string refusal = json.at("compiler_refusal");
  const double named = std::stod(refusal.substr(refusal.find("temporaries (") + 13)) * 1024;
  const nlohmann::json& memory = json.at("memory_bytes_per_device");
  EXPECT_NEAR(memory.at("together").get<double>() / kGiB, named, 0.01 * named);
  // The log-sum-exp of each query's scores waits for the backward, in float32.
  const int64_t heads = 16;
  EXPECT_GE(memory.at("activations").get<int64_t>(), 1024 * heads * 4096 * 4);
}

// The program of `flags` as `tethys train` on such devices writes it.
std::string content_of_run(const Flags& flags, const std::string& device_kind, int64_t devices) {
  Config config(options_of(kTrainCommand));
  load_recipe(config, apply_flags(config, flags).at(1), TETHYS_SOURCE_DIR "/recipes");
  config.set("device.platform", std::string("tpu"), {Origin::Source::Flag, "--device"});
  const TrainingSetup setup = set_up(config, devices);
  const RecordedStep step = record_training_step(*setup.model, setup.store, setup.shape, setup.step);
  const Program program = make_program(*step.graph, setup.mesh, capabilities_of(config), step.aliases, setup.gathers);
  return content_key(program.text, compile_options(setup.mesh, compiler_flags(config, device_kind)), {});
}

TEST(Compile, SavesTheStepThatARunOnSuchASliceLooksFor) {
  NEEDS_LIBTPU();
  const TemporaryFolder folder;
  const Path file = folder / "small.step";
  const Ended ended = run_tethys(kSmall + Flags{"--topology", "v5e:2x2", "--save", file.string()});
  ASSERT_EQ(ended.status, 0) << ended.output;
  EXPECT_THAT(ended.output, HasSubstr("saved " + file.string()));
  const SavedStep step(file);
  const StepIdentity& identity = step.identity();
  EXPECT_EQ(identity.program, content_of_run(kSmall, "TPU v5 lite", 4));
  EXPECT_EQ(identity.recipe, "llama3_debugmodel");
  EXPECT_EQ(identity.platform, "tpu");
  EXPECT_EQ(identity.plugin, "libtpu.so");
  EXPECT_THAT(identity.plugin_version, HasSubstr("pjrt 0."));
  EXPECT_EQ(identity.topology, "v5e:2x2");
  EXPECT_EQ(identity.devices, "4 × TPU v5 lite, 2x2x1");
  EXPECT_EQ(identity.options.at("training.seq_len"), "128");
  EXPECT_GT(step.executable().size(), 100'000U);
}

// Says what there is and what is missing; what the file is wrong in, it says even here.
TEST(Compile, WhatItSavedIsNotLoadedWithoutATpu) {
  if (is_there("/dev/accel0") || is_there("/dev/vfio/0")) GTEST_SKIP() << "there is a TPU: /dev/accel0 or /dev/vfio/0";
  const TemporaryFolder folder;
  const Path file = folder / "saved.step";
  StepIdentity identity;
  identity.recipe = "llama3_debugmodel";
  identity.topology = "v5e:2x2";
  identity.devices = "4 × TPU v5 lite, 2x2x1";
  save_step(file, identity, "not looked at");
  const Flags train = corpus().train(folder / "run") + Flags{"--device", "tpu", "--device.executable", file.string()};
  const Ended ended = run_tethys(train);
  EXPECT_EQ(ended.status, 2) << ended.output;
  EXPECT_THAT(ended.output, AllOf(HasSubstr("this machine has no TPU: there is no /dev/accel*"), HasSubstr("libtpu"),
                                  HasSubstr("the step in " + SavedStep(file).describe())));
  write_file(file, "tethys executable 1\n");
  EXPECT_THAT(run_tethys(train).output, HasSubstr("is damaged or cut short"));
}

TEST(Compile, RefusesAnOptionThatTheCompilerDoesNotKnow) {
  NEEDS_LIBTPU();
  const Ended ended = run_tethys(kSmall + Flags{"--topology", "v5e:1x1", "--device.compile_options", "xla_no_such=1"});
  EXPECT_EQ(ended.status, 2) << ended.output;
  EXPECT_THAT(ended.output, AllOf(HasSubstr("device.compile_options"), HasSubstr("does not take xla_no_such")));
}

TEST(Compile, SaysWhatIsMissingOrWrongBeforeItCompiles) {
  const auto expect_mistake = [](const Flags& flags, const std::string& message) {
    const Ended ended = run_tethys(flags);
    EXPECT_EQ(ended.status, 2) << ended.output;
    EXPECT_THAT(ended.output, HasSubstr(message));
  };
  expect_mistake({"compile", "--topology", "v5e:2x2"}, "needs a recipe");
  expect_mistake(kSmall, "needs --topology");
  expect_mistake(kSmall + Flags{"--topology", "v5e:2x3"}, "'v5e:2x3' is no topology");
  expect_mistake(kSmall + Flags{"--topology", "v5e:2x2", "--device", "cpu"}, "is for TPUs");
  expect_mistake(kSmall + Flags{"--topology", "v5e:2x2", "--parallelism.data_parallel_shard_degree", "8"},
                 "larger than v5e:2x2");
  const TemporaryFolder folder;
  const Flags saving = {"--save", (folder / "step").string()};
  expect_mistake(kSmall + saving + Flags{"llama3_1b", "--topology", "v5e:2x2"},
                 "and these are 2 and 1; call tethys compile once for each");
  expect_mistake(kSmall + saving + Flags{"--topology", "v5e:2x2,v5e:1x1"}, "and these are 1 and 2;");
  expect_mistake(kSmall + saving + Flags{"--topology", "v5e:2x2", "--graph.split_offload"}, "is several programs");
  expect_mistake(kSmall + Flags{"--topology", "v5e:2x2", "--save", (folder / "none/step").string()}, "No such file");
  expect_mistake(kSmall + Flags{"--topology", "v5e:2x2", "--device.executable", "step"}, "--save FILE keeps it");
  EXPECT_FALSE(is_there(folder / "step"));
}

TEST(Compile, WithoutLibtpuNamesTheCommandThatInstallsIt) {
  const TemporaryFolder folder;  // with no .deps at or above it
  const Path program = folder / "tethys";
  std::filesystem::copy_file(TETHYS_PROGRAM, program);
  std::filesystem::create_directory_symlink(TETHYS_SOURCE_DIR "/recipes", folder / "recipes");
  const Path output = folder / "output";
  const int status = std::system(
      fmt::format("{} compile llama3_debugmodel --topology v5e:2x2 > {} 2>&1", program.string(), output.string())
          .c_str());
  EXPECT_EQ(WEXITSTATUS(status), 2);
  EXPECT_THAT(read_file(output), HasSubstr("make setup-tpu"));
}

}  // namespace
}  // namespace tethys
