#include "train/resume.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/temporary_folder.h"
#include "config/config.h"
#include "config/describe.h"

namespace tethys {
namespace {

class Resumed : public testing::Test {
 protected:
  Resumed() {
    write_file(file_, config_toml(Config()));
    save_one("checkpoint");
  }

  void save_one(const std::string& name) const {
    const Path checkpoint = folder_ / (name + "/step-00000001");
    make_directories(checkpoint);
    write_file(checkpoint / "manifest.json", "{}");
  }

  std::vector<std::string> changes(const std::vector<std::pair<std::string, OptionValue>>& values) const {
    Config config(with_training_options({text_option("output", "x", "")}));
    for (const auto& [name, value] : values) config.set(name, value, {Origin::Source::Flag, "--" + name});
    return changes_since_last_run(RunFolder(folder_.path(), true), config);
  }
  std::string refusal(const std::string& name, const OptionValue& value) const {
    try {
      changes({{name, value}});
    } catch (const UserError& error) {
      return error.what();
    }
    return "no error";
  }

  TemporaryFolder folder_;
  Path file_ = folder_ / "config.toml";
};

TEST_F(Resumed, ListsWhatMayChange) {
  EXPECT_TRUE(changes({}).empty());
  EXPECT_THAT(changes({{"training.steps", int64_t{80}}, {"optimizer.lr", 0.5}}),
              testing::ElementsAre("training.steps = 10000 → 80", "optimizer.lr = 0.0008 → 0.5"));
}

// Same shapes, another function: no checkpoint's tensors would show it.
TEST_F(Resumed, WithAnotherModelDtypeOrSeedIsRefused) {
  EXPECT_EQ(refusal("model.rope_theta", 10000.0),
            "model.rope_theta = 10000.0 (--model.rope_theta), and 500000.0 in " + file_.string() +
                ": a run goes on with the model, dtype, seed and checkpoint.folder that it began with; give 500000.0 "
                "again, or start a new run from its weights by --checkpoint.initial_load_path");
  for (const Option& option : option_table()) {
    if (section_of(option) != "model" || option.type != OptionType::Int) continue;
    EXPECT_THAT(refusal(option.name, int64_t{7}), testing::HasSubstr(option.name + " = 7")) << option.name;
  }
  EXPECT_THAT(refusal("training.dtype", std::string("bfloat16")), testing::HasSubstr("\"float32\" in "));
  EXPECT_THAT(refusal("debug.seed", int64_t{1}), testing::HasSubstr("give 0 again"));
}

TEST_F(Resumed, LooksForCheckpointsWhereTheLastRunKeptThem) {
  EXPECT_THAT(refusal("checkpoint.folder", std::string("saved")), testing::HasSubstr("give \"checkpoint\" again"));
  write_file(file_, "[checkpoint]\nfolder = \"saved\"\n");
  EXPECT_TRUE(changes({{"model.rope_theta", 10000.0}}).empty()) << "there is none: it begins anew";
  save_one("saved");
  EXPECT_THAT(refusal("checkpoint.folder", std::string("checkpoint")), testing::HasSubstr("give \"saved\" again"));
}

TEST_F(Resumed, ComparesWithDefaultsWhereTheOldFileSaysNothing) {
  write_file(file_, "[training]\nsteps = 7\n");
  EXPECT_THAT(changes({}), testing::ElementsAre("training.steps = 7 → 10000"));
}

}  // namespace
}  // namespace tethys
