#include "config/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/config.h"
#include "config/testing.h"

namespace tethys {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Config train_config() {
  Option help = bool_option("help", false, "");
  help.alias = "h";
  return Config(with_training_options(
      {text_option("output", "", ""), bool_option("resume", false, ""), bool_option("dry_run", false, ""), help}));
}

std::string refusal(const std::vector<std::string>& arguments) {
  Config config = train_config();
  return user_error_of([&] { apply_flags(config, arguments); });
}

TEST(Flags, TakeAValueAfterASpaceOrAnEqualsSign) {
  Config config = train_config();
  EXPECT_THAT(apply_flags(config, {"--training.steps", "10", "--optimizer.lr=3e-4", "--data.tokenizer=a=b"}),
              IsEmpty());
  EXPECT_EQ(config.get_int("training.steps"), 10);
  EXPECT_EQ(config.get_float("optimizer.lr"), 3e-4);
  EXPECT_EQ(config.get_string("data.tokenizer"), "a=b");
  EXPECT_EQ(config.origin("training.steps").place, "--training.steps");
}

TEST(Flags, AValueMayBeNegativeOrEmpty) {
  Config config = train_config();
  apply_flags(config, {"--parallelism.data_parallel_shard_degree", "-1", "--output="});
  EXPECT_EQ(config.get_int("parallelism.data_parallel_shard_degree"), -1);
  EXPECT_EQ(config.origin("parallelism.data_parallel_shard_degree").source, Origin::Source::Flag);
  EXPECT_EQ(config.get_string("output"), "");
}

TEST(Flags, OneThatRepeatsAddsATextEachTimeCommasAndAll) {
  Option stop = text_list_option("stop", {"default"}, "");
  stop.repeats = true;
  Config config({stop});
  apply_flags(config, {"--stop", "a,b"});
  EXPECT_THAT(config.get_strings("stop"), ElementsAre("a,b"));
  apply_flags(config, {"--stop=", "--stop", "c"});
  EXPECT_THAT(config.get_strings("stop"), ElementsAre("a,b", "", "c"));
}

TEST(Flags, ASwitchIsSetAndClearedInEveryWay) {
  const auto scan = [](const std::vector<std::string>& arguments) {
    Config config = train_config();
    apply_flags(config, arguments);
    return config.get_bool("graph.scan_layers");
  };
  EXPECT_TRUE(scan({"--graph.scan_layers"}));
  EXPECT_TRUE(scan({"--graph.scan_layers=true"}));
  EXPECT_TRUE(scan({"--graph.scan_layers", "true"}));
  EXPECT_FALSE(scan({"--graph.scan_layers", "--no-graph.scan_layers"}));
  EXPECT_FALSE(scan({"--graph.scan_layers", "--graph.scan_layers=false"}));
  EXPECT_FALSE(scan({"--graph.scan_layers", "--graph.scan_layers", "false"}));
}

TEST(Flags, ASwitchLeavesTheNextArgumentAlone) {
  Config config = train_config();
  EXPECT_THAT(apply_flags(config, {"--resume", "llama3_8b", "--dry-run"}), ElementsAre("llama3_8b"));
  EXPECT_TRUE(config.get_bool("resume"));
  EXPECT_TRUE(config.get_bool("dry_run"));
}

TEST(Flags, DashesAndUnderscoresAreAlikeAndAliasesWork) {
  Config config = train_config();
  apply_flags(config, {"--training.seq-len", "64", "--dry_run", "--mode", "eager", "--device", "tpu", "--device.count",
                       "4", "-h"});
  EXPECT_EQ(config.get_int("training.seq_len"), 64);
  EXPECT_TRUE(config.get_bool("dry_run"));
  EXPECT_EQ(config.get_string("graph.mode"), "eager");
  EXPECT_EQ(config.get_string("device.platform"), "tpu");
  EXPECT_EQ(config.get_int("device.count"), 4);
  EXPECT_TRUE(config.get_bool("help"));
}

TEST(Flags, ListsAreSeparatedByCommasAndTheLastValueCounts) {
  Config config = train_config();
  apply_flags(config, {"--graph.remat_save", "q,k", "--training.steps=1", "--training.steps=2"});
  EXPECT_THAT(config.get_strings("graph.remat_save"), ElementsAre("q", "k"));
  EXPECT_EQ(config.get_int("training.steps"), 2);
}

TEST(Flags, OtherArgumentsComeBackInOrderAndAllAfterTwoDashes) {
  Config config = train_config();
  EXPECT_THAT(apply_flags(config, {"a", "--resume", "-", "", "--", "--training.steps", "b"}),
              ElementsAre("a", "-", "", "--training.steps", "b"));
}

TEST(Flags, AnUnknownFlagNamesTheNearest) {
  EXPECT_EQ(refusal({"--training.stepz", "5"}), "unknown flag --training.stepz; the nearest is --training.steps");
  EXPECT_EQ(refusal({"--lr=5"}), "unknown flag --lr; the nearest is --optimizer.lr");
  EXPECT_EQ(refusal({"--dryrun"}), "unknown flag --dryrun; the nearest is --dry-run");
  EXPECT_EQ(refusal({"--no-resum"}), "unknown flag --no-resum; the nearest is --resume");
  EXPECT_EQ(refusal({"-resume"}), "unknown flag -resume; the nearest is --resume");
  EXPECT_EQ(refusal({"---resume"}), "unknown flag ---resume; the nearest is --resume");
  EXPECT_NE(refusal({"-x"}), "no error");
  EXPECT_NE(refusal({"--h"}), "no error");
}

TEST(Flags, ASectionIsNoFlagAndListsItsOwn) {
  EXPECT_THAT(refusal({"--lr_scheduler", "5"}),
              testing::StartsWith("--lr_scheduler is a section; its flags are --lr_scheduler.warmup_steps, "));
}

TEST(Flags, AMissingOrWrongValueIsNamed) {
  EXPECT_EQ(refusal({"--training.steps"}), "--training.steps needs a value: an int, at least 1 and at most 1000000000");
  EXPECT_EQ(refusal({"--training.steps", "--resume"}),
            "--training.steps needs a value: an int, at least 1 and at most 1000000000");
  EXPECT_EQ(refusal({"--training.steps", "many"}),
            "--training.steps: training.steps is \"many\", expected an int, at least 1 and at most 1000000000");
  EXPECT_EQ(refusal({"--training.steps=0"}),
            "--training.steps: training.steps is 0, expected an int, at least 1 and at most 1000000000");
  EXPECT_EQ(refusal({"--mode", "fast"}),
            "--mode: graph.mode is \"fast\", expected one of eager, deferred, compile, graph");
  EXPECT_EQ(refusal({"--resume=maybe"}), "--resume: resume is \"maybe\", expected true or false");
}

TEST(Flags, OnlyASwitchHasANegative) {
  EXPECT_EQ(refusal({"--no-training.steps"}),
            "--no-training.steps: training.steps is no switch; it takes an int, at least 1 and at most 1000000000");
  EXPECT_EQ(refusal({"--no-resume=true"}), "--no-resume takes no value; write --resume=true");
}

}  // namespace
}  // namespace tethys
