// tethys eval from outside: its numbers beside those of training, and beside closed forms.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tools/testing.h"
#include "train/metrics.h"

namespace tethys {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Json = nlohmann::json;

Json evaluate(const Flags& flags) {
  TemporaryFolder folder;
  const Ended ended = run_tethys(Flags{"eval", "--json", (folder / "out.json").string()} + flags);
  EXPECT_EQ(ended.status, 0) << ended.output;
  return ended.status == 0 ? Json::parse(read_file(folder / "out.json")) : Json();
}

// A run of a few steps, for what needs any weights.
class Eval : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    expect_done(run_tethys(corpus().train(*folder_ / "run") + Flags{"--training.steps", "4"}));
  }
  static void TearDownTestSuite() { delete folder_; }
  static std::string run() { return (*folder_ / "run").string(); }
  static std::string write(const std::string& name, const std::string& content) {
    write_file(*folder_ / name, content);
    return (*folder_ / name).string();
  }

  static TemporaryFolder* folder_;
};
TemporaryFolder* Eval::folder_ = nullptr;

class EvalOfARun : public testing::TestWithParam<Flags> {};

TEST_P(EvalOfARun, GivesToTheLastBitWhatItsValidationPrintedAtThatStep) {
  TemporaryFolder folder;
  const Path run = folder / "run";
  expect_done(run_tethys(corpus().train(run) + GetParam() +
                         Flags{"--training.steps", "20", "--validation.enable", "--validation.freq", "10",
                               "--checkpoint.interval", "10"}));
  const RunMetrics metrics = read_metrics(run / "metrics.jsonl");
  ASSERT_EQ(metrics.validations.size(), 2U);
  for (const auto& [path, printed] :
       {std::pair(run / "checkpoint/step-00000010", metrics.validations[0]), std::pair(run, metrics.validations[1])}) {
    const Json json = evaluate({path.string()});
    EXPECT_EQ(json.at("step"), printed.step);
    EXPECT_EQ(json.at("tokens"), printed.tokens);
    EXPECT_EQ(json.at("loss").get<double>(), printed.loss);
    EXPECT_EQ(json.at("unigram_entropy").get<double>(), printed.entropy);
    EXPECT_EQ(json.at("perplexity").get<double>(), std::exp(printed.loss));
  }
}

INSTANTIATE_TEST_SUITE_P(Meshes, EvalOfARun,
                         testing::Values(Flags{},
                                         Flags{"--parallelism.data_parallel_shard_degree", "4",
                                               "--training.local_batch_size", "1", "--graph.scan_layers"},
                                         kExperts4));

// 64 bytes that no merge joins, and the end of the text: two rows of 32, of whose labels one spells nothing.
TEST_F(Eval, CountsTheBytesOfAllOfAnotherText) {
  const Json json = evaluate({run(), "--data.text", write("x.txt", std::string(64, 'x'))});
  EXPECT_EQ(json.at("tokens"), 64);
  EXPECT_EQ(json.at("bytes"), 63);
  const double loss = json.at("loss");
  EXPECT_DOUBLE_EQ(json.at("bits_per_byte"), loss * 64 / std::log(2.0) / 63);
  EXPECT_DOUBLE_EQ(json.at("unigram_entropy"), -(64 * std::log(64 / 65.0) + std::log(1 / 65.0)) / 65);
  EXPECT_THAT(json.at("text"), HasSubstr("x.txt"));
}

// A mixed run brings its mix, which another text has not. Of two such texts the first label of the second is none.
TEST_F(Eval, ReadsAllSourcesOfAMixWhateverTheirWeights) {
  const std::string x = write("x.txt", std::string(64, 'x')), y = write("y.txt", std::string(64, 'z'));
  const Flags mix = {"--data.mix", "a=0.9,b=0.1"};
  const Flags train = corpus().train(*folder_ / "mixed") + mix;
  expect_done(run_tethys(
      train + Flags{"--training.steps", "1", "--data.text", "a:" + corpus().text() + ",b:" + corpus().text()}));
  const std::string mixed = (*folder_ / "mixed").string();
  EXPECT_GT(evaluate({mixed}).at("tokens"), 0);
  EXPECT_EQ(evaluate({mixed, "--data.text", x}).at("tokens"), 64);
  const Json both = evaluate(Flags{mixed, "--data.text", "a:" + x + ",b:" + y} + mix);
  EXPECT_EQ(both.at("tokens"), 127);
  EXPECT_EQ(both.at("bytes"), 126);
}

TEST_F(Eval, PrintsATable) {
  const Ended ended = run_tethys({"eval", run(), "--data.text", write("x.txt", std::string(64, 'x'))});
  expect_done(ended);
  EXPECT_THAT(ended.output,
              AllOf(HasSubstr("checkpoint/step-00000004\non [\""), HasSubstr("perplexity   bits/byte"),
                    testing::ContainsRegex("\n +64 +[0-9]+\\.[0-9]{5} +[0-9.]+ +[0-9.]+ +0\\.[0-9]{5}\n$")));
}

// The first step's loss is that of the initial values on the same rows.
TEST_F(Eval, OfInitialValuesIsTheLossOfTheFirstStep) {
  std::string tokens;
  for (int i = 0; i < 4 * 32 + 1; ++i) tokens += {static_cast<char>(i * 7 % 256), '\0'};
  const Flags raw = {"--data.text=", "--data.tokens", write("tokens.bin", tokens)};
  expect_done(run_tethys(corpus().train(*folder_ / "one") + raw + Flags{"--training.steps", "1"}));
  expect_done(run_tethys(corpus().train(*folder_ / "seed") + raw + Flags{"--checkpoint.create_seed_checkpoint"}));
  const Path config = *folder_ / "one/config.toml";
  const Json json = evaluate(Flags{(*folder_ / "seed").string(), "--recipe", config.string()} + raw);
  EXPECT_EQ(json.at("step"), 0);
  EXPECT_EQ(json.at("tokens"), 4 * 32);
  const double first = read_metrics(*folder_ / "one/metrics.jsonl").steps.at(0).loss;
  EXPECT_NEAR(json.at("loss"), first, 1e-6 * first);
  const Ended alone = run_tethys({"eval", (*folder_ / "one").string()});
  EXPECT_EQ(alone.status, 2);
  EXPECT_THAT(alone.output, HasSubstr("tokens.bin\" (" + config.string() + ":"));
  EXPECT_THAT(alone.output, HasSubstr("has no held-out part; give --data.text GLOBS, or --data.tokens FILE"));
}

TEST_F(Eval, OfAHuggingFaceFolderIsThatOfTheRunItIsFrom) {
  const std::string folder = (*folder_ / "hf").string();
  expect_done(run_tethys({"convert", run(), "--output", folder}));
  const Json of_folder = evaluate({folder, "--data.text", corpus().text(), "--data.holdout", "0.1",
                                   "--training.seq_len", "32", "--training.local_batch_size", "4"});
  const Json of_run = evaluate({run()});
  for (const char* figure : {"loss", "tokens", "bytes", "unigram_entropy"}) {
    EXPECT_EQ(of_folder.at(figure), of_run.at(figure)) << figure;
  }
  const Ended alone = run_tethys({"eval", folder});
  EXPECT_EQ(alone.status, 2);
  EXPECT_THAT(alone.output, HasSubstr("there is nothing to evaluate on: give --data.text GLOBS"));
}

// 2^44 parameters are found before anything is compiled, and so many rows before one is made.
TEST_F(Eval, OfWhatDoesNotFitIntoTheMachineIsRefused) {
  const std::pair<Flags, std::string> cases[] = {
      {{"--model.dim", "1048576", "--model.vocab_size", "16777216"}, "the parameters take 155649.5 GiB"},
      {{"--training.local_batch_size", "1048576", "--training.seq_len", "512"}, "(8.0 of parameters and rows, "},
  };
  for (const auto& [flags, message] : cases) {
    const Ended ended = run_tethys(Flags{"eval", run()} + flags);
    EXPECT_EQ(ended.status, 3);
    EXPECT_THAT(ended.output, AllOf(HasSubstr("of this machine"), HasSubstr(message)));
  }
}

TEST_F(Eval, RefusesWhatItCannotRead) {
  const std::string short_text = write("short.txt", "0123456789");
  const std::pair<Flags, std::string> cases[] = {
      {{run(), "--data.text", short_text}, "11 tokens in 1 document, and a row of training.seq_len 32 needs 33"},
      {{run(), "--data.text", "/no/such/*.txt"}, "/no/such/*.txt"},
      {{run(), "--model.vocab_size", "299"}, "the tokenizer has 300 tokens and the model 299: "},
      {{run(), "--data.holdout", "0"}, "nothing is held out of data.text = "},
      {{folder_->path().string()}, "is neither a run or a checkpoint of one (there is no config.toml) nor a "},
      {{folder_->path().string(), "--recipe", "llama3_debugmodel"}, "checkpoint"},
  };
  for (const auto& [flags, message] : cases) {
    const Ended ended = run_tethys(Flags{"eval"} + flags);
    EXPECT_EQ(ended.status, 2) << ended.output;
    EXPECT_THAT(ended.output, HasSubstr(message));
  }
}

}  // namespace
}  // namespace tethys
