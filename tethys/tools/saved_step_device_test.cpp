// A step that was compiled and saved, loaded by `tethys train`: on the CPU, where a run can be looked at. What is for
// TPUs alone is in compile_device_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/flags.h"
#include "config/recipe.h"
#include "tools/commands.h"
#include "tools/testing.h"
#include "train/prepared.h"
#include "train/saved_step.h"

namespace tethys {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const Flags kShort = {"--training.steps", "6"};
const std::string kPlugins = TETHYS_SOURCE_DIR "/.deps/plugins/";

// Compiles the step of `flags`, those of a run, as that run would, and saves it.
void save_step_of(const Flags& flags, const Path& file) {
  Config config(options_of(kTrainCommand));
  load_recipe(config, apply_flags(config, flags).at(1), TETHYS_SOURCE_DIR "/recipes");
  const Prepared prepared = prepare(config, {.plugin = kPlugins + "default.so", .cache_folder = "", .environment = ""});
  const TrainingSetup& setup = prepared.setup;
  const RecordedStep step = record_training_step(*setup.model, setup.store, setup.shape, setup.step);
  const Program program =
      make_program(*step.graph, setup.mesh, prepared.executor->capabilities(), step.aliases, setup.gathers);
  const pjrt::Client& client = *prepared.machine.client;
  StepIdentity identity = step_identity(config, *client.plugin(), "", client.devices());
  identity.recipe = "llama3_debugmodel";
  identity.saved_by = "0.0.1, of this test";
  identity.program = content_key(program.text, compile_options(setup.mesh), {});
  save_step(file, identity, prepared.executor->compile(program)->loaded->executable.executable().serialize());
}

Flags loading(const Path& file) { return {"--device.executable", file.string()}; }

class LoadedStep : public testing::TestWithParam<Flags> {};

// Without the cache of compiled programs, which would hide a step that was compiled after all.
TEST_P(LoadedStep, TrainsBitForBitAsOneThatIsCompiled) {
  const TemporaryFolder folder;
  const Flags flags = kShort + GetParam();
  const Path file = folder / "saved.step";
  save_step_of(corpus().train(folder / "none") + flags, file);
  const Ended compiled = Process(corpus().train(folder / "compiled") + flags, folder / "cache 1").await();
  const Ended loaded = Process(corpus().train(folder / "loaded") + flags + loading(file), folder / "cache 2").await();
  expect_done(compiled);
  expect_done(loaded);
  EXPECT_EQ(curve_of(folder / "loaded").size(), 6U);
  EXPECT_EQ(curve_of(folder / "loaded"), curve_of(folder / "compiled"));
  EXPECT_EQ(manifest_of(folder / "loaded", 6), manifest_of(folder / "compiled", 6));
  EXPECT_THAT(loaded.output, HasSubstr("from the cache, the step from " + file.string()));
  EXPECT_THAT(compiled.output, Not(HasSubstr(file.string())));
  const auto programs = [](const Ended& ended) {
    const size_t at = ended.output.find("programs: ");
    require(at != std::string::npos, "{}", ended.output);
    return std::stoi(ended.output.substr(at + std::string("programs: ").size()));
  };
  EXPECT_EQ(programs(loaded), programs(compiled) - 1);
}

INSTANTIATE_TEST_SUITE_P(Meshes, LoadedStep,
                         testing::Values(Flags{},
                                         Flags{"--graph.scan_layers", "--parallelism.data_parallel_shard_degree", "4",
                                               "--training.local_batch_size", "1"}));

class RefusedStep : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TemporaryFolder>();
    save_step_of(run(), file());
  }
  static void TearDownTestSuite() { folder_.reset(); }

  static Flags run() { return corpus().train(*folder_ / "run") + kShort; }
  static Path file() { return *folder_ / "saved.step"; }

  // The same executable, said to be of something else.
  template <typename Change>
  static Path changed(const Change& change) {
    const SavedStep step(file());
    StepIdentity identity = step.identity();
    change(identity);
    save_step(*folder_ / "changed.step", identity, step.executable());
    return *folder_ / "changed.step";
  }
  template <typename... Parts>
  static void expect_refused(const Flags& flags, const Parts&... parts) {
    const Ended ended = run_tethys(flags);
    EXPECT_EQ(ended.status, 2) << ended.output;
    EXPECT_THAT(ended.output, AllOf(HasSubstr(parts)...));
    EXPECT_FALSE(is_there(*folder_ / "run")) << ended.output;
  }

  static std::unique_ptr<TemporaryFolder> folder_;
};
std::unique_ptr<TemporaryFolder> RefusedStep::folder_;

TEST_F(RefusedStep, OfAnotherProgramNamesTheOptionsThatDiffer) {
  expect_refused(run() + loading(file()) + Flags{"--model.ffn_dim", "32", "--training.max_norm", "2"},
                 "is another program than this run's step", "model.ffn_dim = 32 (--model.ffn_dim), and 64 there",
                 "training.max_norm = 2.0 (--training.max_norm), and 1.0 there", "tethys compile --save");
  expect_refused(run() + loading(changed([](StepIdentity& identity) { identity.program = "another"; })),
                 "no option differs, but it was saved by tethys 0.0.1, of this test");
}

TEST_F(RefusedStep, OptionsThatAreNotOfTheProgramMayChange) {
  const Ended ended =
      run_tethys(run() + loading(file()) + Flags{"--training.steps", "4", "--optimizer.lr", "1e-4", "--dry-run"});
  EXPECT_EQ(ended.status, 0) << ended.output;
}

TEST_F(RefusedStep, OfOtherDevices) {
  expect_refused(run() + loading(file()) + kFsdp4, "saved from llama3_debugmodel for 1 × cpu",
                 "is for other devices than those here: 4 × cpu");
  expect_refused(run() + loading(changed([](StepIdentity& identity) { identity.devices_key = "another"; })),
                 "1 × cpu with other numbers or in other places");
}

TEST_F(RefusedStep, OfAnotherPluginOrPlatformOrCpu) {
  const std::string other = kPlugins + "openxla_cpu.so";
  expect_refused(run() + loading(file()) + Flags{"--device.plugin", other}, "was compiled by default.so (pjrt 0.115",
                 other + " is another version (pjrt 0.81", "--device.plugin PATH");
  expect_refused(run() + loading(changed([](StepIdentity& identity) { identity.platform = "tpu"; })),
                 "is of the platform tpu, and device.platform = \"cpu\"");
  expect_refused(run() + loading(changed([](StepIdentity& identity) { identity.cpu = "another"; })),
                 "was saved on a machine with another CPU");
}

TEST_F(RefusedStep, ThatIsDamagedOrThatThePluginDoesNotLoad) {
  const Path broken = *folder_ / "broken.step";
  const std::string content = read_file(file());
  write_file(broken, content.substr(0, content.size() - 1));
  expect_refused(run() + loading(broken), "is damaged or cut short", broken.string());
  const SavedStep step(file());
  save_step(broken, step.identity(), step.executable().substr(0, step.executable().size() / 2));
  expect_refused(run() + loading(broken), broken.string(), "the plugin does not load the executable");
}

TEST_F(RefusedStep, InAModeThatHasNoSuchProgram) {
  expect_refused(run() + loading(file()) + Flags{"--mode", "compile"}, "is the whole step as one program",
                 "graph.mode = \"compile\" (--mode)");
  expect_refused(run() + loading(file()) + Flags{"--graph.scan_layers", "--graph.split_offload"},
                 "graph.split_offload = true");
}

}  // namespace
}  // namespace tethys
