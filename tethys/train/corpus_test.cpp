#include "train/corpus.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "base/error.h"
#include "base/temporary_folder.h"
#include "config/config.h"
#include "config/flags.h"
#include "data/tokenizer/tokenizer.h"
#include "data/tokenizer/train_bpe.h"

namespace tethys {
namespace {

class MixedCorpus : public testing::Test {
 protected:
  MixedCorpus() {
    write_file(folder_ / "few.txt", "a few words");
    for (int i = 0; i < 3; ++i)
      write_file(folder_ / fmt::format("many{}.txt", i), fmt::format("many more words {}", i));
    Tokenizer(learn_merges({{"words", 5}}, {.vocab_size = 260})).save((folder_ / "tokenizer.json").string());
  }

  TrainingData open(const std::string& text, const std::string& mix) {
    Config config;
    apply_flags(config, {"--model.vocab_size", "260", "--data.tokenizer", (folder_ / "tokenizer.json").string(),
                         "--data.holdout", "0.4", "--data.text", text});
    if (!mix.empty()) apply_flags(config, {"--data.mix", mix});
    return open_training_data(config, {.index_folder = (folder_ / "cache").string()}, {});
  }
  std::string files(const std::string& name) const { return (folder_ / name).string(); }
  std::string both(const std::string& few = "few", const std::string& many = "many") const {
    return few + ":" + files("few.txt") + "," + many + ":" + files("many*.txt");
  }
  int64_t indexes() const {
    return std::distance(std::filesystem::directory_iterator(folder_ / "cache"), std::filesystem::directory_iterator());
  }

  TemporaryFolder folder_;
};

TEST_F(MixedCorpus, TheFingerprintCoversSourcesWeightsAndOrderAndNotNames) {
  const std::string one = open(both(), "few=1,many=3").fingerprint;
  EXPECT_EQ(open(both(), "few=0.25,many=0.75").fingerprint, one);
  EXPECT_EQ(open(both("x", "y"), "x=1,y=3").fingerprint, one);
  EXPECT_NE(open(both(), "few=1,many=2").fingerprint, one);
  EXPECT_NE(open(both(), "many=3,few=1").fingerprint, one);
  EXPECT_NE(open(both("many", "few"), "few=1,many=3").fingerprint, one);
  // All of them are read from two indexes.
  EXPECT_EQ(indexes(), 2);
  write_file(folder_ / "few.txt", "other words");
  EXPECT_NE(open(both(), "few=1,many=3").fingerprint, one);
}

TEST_F(MixedCorpus, IsLookedAtWithoutAnIndex) {
  const auto look = [&](const std::vector<std::string>& flags) -> std::string {
    Config config;
    apply_flags(config, flags);
    try {
      return look_at_training_data(config);
    } catch (const UserError& error) {
      return error.what();
    }
  };
  const std::string tokenizer = (folder_ / "tokenizer.json").string();
  const std::vector<std::string> text = {"--data.tokenizer", tokenizer, "--data.text", files("*.txt")};
  // "a few words" and three of "many more words 0".
  EXPECT_EQ(look(text), "data: 4 files of 62 bytes, not read; a tokenizer of 260 tokens");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "cache"));
  EXPECT_THAT(look({}), testing::StartsWith("data: none is named; give --data.text"));
  EXPECT_THAT(look({"--data.text", files("no*.txt")}), testing::HasSubstr("needs a tokenizer"));
  EXPECT_THAT(look({"--data.tokenizer", tokenizer, "--data.text", files("no*.txt")}),
              testing::HasSubstr("no file matches"));
  EXPECT_THAT(look({"--data.tokenizer", files("none"), "--data.text", files("*.txt")}),
              testing::HasSubstr("none: No such file"));
  EXPECT_THAT(look({"--model.vocab_size", "259", "--data.tokenizer", tokenizer, "--data.text", files("*.txt")}),
              testing::HasSubstr("the tokenizer has 260 tokens and the model 259"));
  write_file(folder_ / "tokens.bin", std::string(20, '\0'));
  EXPECT_EQ(look({"--data.tokens", files("tokens.bin"), "--data.token_type", "uint16"}),
            "data: 10 tokens in " + files("tokens.bin"));
}

TEST_F(MixedCorpus, ASourceAloneIsWhatItIsWithoutAMix) {
  const TrainingData plain = open(files("many*.txt"), ""), alone = open("it:" + files("many*.txt"), "it=0.1");
  EXPECT_EQ(alone.fingerprint, plain.fingerprint);
  EXPECT_EQ(alone.training.size(), plain.training.size());
  EXPECT_EQ(training_tokens(alone), training_tokens(plain));
  EXPECT_EQ(indexes(), 1);
}

TEST_F(MixedCorpus, HoldsOutOfEachSource) {
  const TrainingData data = open(both(), "few=1,many=3");
  ASSERT_EQ(data.sources.size(), 2);
  EXPECT_EQ(data.sources[1].share, 0.75);
  EXPECT_EQ(data.files, 4);
  // 0.4 of 3 documents is 1; a single document is not held out.
  EXPECT_EQ(data.sources[0].tokens.documents(), 1);
  EXPECT_EQ(data.sources[1].tokens.documents(), 2);
  EXPECT_EQ(data.validation.documents(), 1);
  EXPECT_EQ(training_documents(data), 3);
}

}  // namespace
}  // namespace tethys
