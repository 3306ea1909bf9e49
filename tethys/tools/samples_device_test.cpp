// Samples of text during training, from outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/testing.h"
#include "train/metrics.h"

namespace tethys {
namespace {

using testing::HasSubstr;

class Samples : public testing::TestWithParam<Flags> {};

TEST_P(Samples, AreWhatGenerateSaysFromTheCheckpointOfTheirStepAndChangeNoStep) {
  TemporaryFolder folder;
  const Path run = folder / "run";
  const Flags flags =
      GetParam() + Flags{"--training.steps", "25", "--checkpoint.interval", "10", "--optimizer.lr", "0.01"};
  const Ended ended = run_tethys(corpus().train(run) + flags +
                                 Flags{"--metrics.sample_freq", "10", "--metrics.sample_prompt", "the cat",
                                       "--metrics.sample_length", "12", "--metrics.sample_temperature", "0"});
  ASSERT_EQ(ended.status, 0) << ended.output;
  EXPECT_THAT(ended.output, HasSubstr("sample step: 10  \"the cat\" \""));
  const RunMetrics metrics = read_metrics(run / "metrics.jsonl");
  ASSERT_EQ(metrics.samples.size(), 3U);  // after steps 10, 20 and the last
  EXPECT_NE(metrics.samples[0].text, metrics.samples[1].text);
  for (const SampleMetrics& sample : metrics.samples) {
    const Path checkpoint = run / fmt::format("checkpoint/step-{:08}", sample.step);
    const Ended said = run_tethys({"generate", checkpoint.string(), "--prompt", "the cat", "--length", "12"});
    EXPECT_EQ(said.status, 0) << said.output;
    EXPECT_THAT(said.output, testing::StartsWith(sample.prompt + sample.text + "\n"));
  }
  ASSERT_EQ(run_tethys(corpus().train(folder / "silent") + flags).status, 0);
  const RunMetrics silent = read_metrics(folder / "silent/metrics.jsonl");
  EXPECT_TRUE(silent.samples.empty());
  ASSERT_EQ(metrics.steps.size(), silent.steps.size());
  for (size_t i = 0; i < silent.steps.size(); ++i) EXPECT_EQ(metrics.steps[i].loss, silent.steps[i].loss);
}

INSTANTIATE_TEST_SUITE_P(Meshes, Samples,
                         testing::Values(Flags{},
                                         Flags{"--parallelism.data_parallel_shard_degree", "4",
                                               "--training.local_batch_size", "1", "--graph.scan_layers"},
                                         kExperts4));

TEST(SamplesThatCannotBeMade, AreRefusedBeforeTheFirstStep) {
  TemporaryFolder folder;
  const Flags train = corpus().train(folder / "run") + Flags{"--metrics.sample_freq", "10"};
  const Ended too_long = run_tethys(train + Flags{"--metrics.sample_length", "131072"});
  EXPECT_EQ(too_long.status, 2);
  EXPECT_THAT(too_long.output, HasSubstr("metrics.sample_length = 131072 (--metrics.sample_length) are more than the "
                                         "model takes: model.context_length = "));
  std::string longer;  // a word of the corpus is no more than two tokens
  for (int i = 0; i < 20000; ++i) longer += " cat";
  const Ended long_prompt = run_tethys(train + Flags{"--metrics.sample_prompt", longer});
  EXPECT_EQ(long_prompt.status, 2);
  EXPECT_THAT(long_prompt.output,
              testing::ContainsRegex("metrics.sample_prompt \\(--metrics.sample_prompt\\) has [0-9,]+ tokens, "
                                     "more than a row of training: training.seq_len = 32"));
  write_file(folder / "tokens.bin", std::string(1000, '\0'));
  const Ended without =
      run_tethys(train + Flags{"--data.text=", "--data.tokenizer=", "--data.tokens", (folder / "tokens.bin").string()});
  EXPECT_EQ(without.status, 2);
  EXPECT_THAT(without.output, HasSubstr("metrics.sample_freq = 10 (--metrics.sample_freq) needs a tokenizer"));
}

}  // namespace
}  // namespace tethys
