// Training that starts from a Hugging Face folder, and what a model says after the way there and back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/testing.h"
#include "train/metrics.h"

namespace tethys {
namespace {

using testing::HasSubstr;

// A run of three steps, and the folder that it gives.
class TrainedFolder : public testing::Test {
 protected:
  TrainedFolder() {
    expect_done(run_tethys(corpus_.train(run()) + Flags{"--training.steps", "3"}));
    expect_done(run_tethys({"convert", run(), "--output", hf()}));
  }
  std::string run() const { return (folder_ / "run").string(); }
  std::string hf() const { return (folder_ / "hf").string(); }

  // Two steps as the corpus's recipe has them, from there.
  Ended train_from(const Flags& start, const Path& output) const {
    return run_tethys(start + Flags{"--output", output.string(), "--data.text", corpus_.text(), "--data.holdout", "0.1",
                                    "--training.seq_len", "32", "--training.steps", "2", "--training.local_batch_size",
                                    "4", "--lr_scheduler.warmup_steps", "2", "--metrics.log_freq", "1"});
  }

  SmallCorpus corpus_;
  TemporaryFolder folder_;
};

TEST_F(TrainedFolder, IsTrainedFurtherAsTheRunItIsOf) {
  Flags recipe = corpus_.train(folder_ / "a");
  recipe.insert(recipe.end(),
                {"--checkpoint.initial_load_path", run(), "--training.steps", "2", "--lr_scheduler.decay_ratio", "-1"});
  expect_done(run_tethys(recipe));
  expect_done(train_from({"train", hf()}, folder_ / "b"));
  const auto expected = curve_of(folder_ / "a");
  ASSERT_EQ(expected.size(), 2U);
  EXPECT_LT(expected[0][0], curve_of(run())[0][0]);  // it does not begin anew
  EXPECT_EQ(curve_of(folder_ / "b"), expected);
  // By a recipe, and with what is converted.
  Flags named = corpus_.train(folder_ / "c");
  named.insert(named.end(), {"--checkpoint.initial_load_path", hf(), "--checkpoint.initial_load_in_hf",
                             "--training.steps", "2", "--lr_scheduler.decay_ratio", "-1"});
  expect_done(run_tethys(named));
  EXPECT_EQ(curve_of(folder_ / "c"), expected);
  expect_done(run_tethys({"convert", hf(), "--output", (folder_ / "back").string()}));
  expect_done(train_from({"train", (folder_ / "back/config.toml").string()}, folder_ / "d"));
  EXPECT_EQ(curve_of(folder_ / "d"), expected);
}

TEST_F(TrainedFolder, SaysThereAndAfterTheWayBackWhatTheRunSays) {
  expect_done(run_tethys({"convert", hf(), "--output", (folder_ / "back").string()}));
  const Flags prompt = {"--prompt", "the cat", "--length", "24"};
  const std::string before = said_by(run_tethys(Flags{"generate", run()} + prompt));
  EXPECT_EQ(said_by(run_tethys(Flags{"generate", (folder_ / "back").string()} + prompt)), before);
  EXPECT_EQ(said_by(run_tethys(Flags{"generate", hf()} + prompt)), before);
  const Ended twice = run_tethys(Flags{"generate", hf(), "--recipe", "llama3_8b"} + prompt);
  EXPECT_EQ(twice.status, 2);
  EXPECT_THAT(twice.output, HasSubstr("is a Hugging Face folder, which brings its own"));
}

TEST_F(TrainedFolder, MayLeaveOutAWeightThatDoesNotFit) {
  const Flags more = {"train", hf(), "--model.vocab_size", "320"};
  const Ended refused = train_from(more, folder_ / "a");
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.output, HasSubstr("lm_head.weight: expected f32[320,32], the checkpoint has f32[300,32]"));
  expect_done(train_from(more + Flags{"--checkpoint.exclude_from_loading", "tok_embeddings.weight,output.weight"},
                         folder_ / "b"));
}

TEST_F(TrainedFolder, IsNoCheckpointUnlessThatIsSaid) {
  Flags flags = corpus_.train(folder_ / "a");
  flags.insert(flags.end(), {"--checkpoint.initial_load_path", hf()});
  const Ended ended = run_tethys(flags);
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.output, HasSubstr("is a Hugging Face folder; give --checkpoint.initial_load_in_hf too"));
  const Ended without = run_tethys(corpus_.train(folder_ / "b") + Flags{"--checkpoint.initial_load_in_hf"});
  EXPECT_EQ(without.status, 2);
  EXPECT_THAT(without.output, HasSubstr("needs the folder: --checkpoint.initial_load_path FOLDER"));
}

}  // namespace
}  // namespace tethys
