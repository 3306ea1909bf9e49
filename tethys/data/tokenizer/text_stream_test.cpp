#include "data/tokenizer/text_stream.h"

#include <gtest/gtest.h>

#include "data/tokenizer/train_bpe.h"

namespace tethys {
namespace {

const Tokenizer& bytes_only() {
  static const Tokenizer tokenizer(learn_merges({{"a", 1}}, {.vocab_size = 257}));
  return tokenizer;
}

TEST(CompleteUtf8, EndsBeforeACharacterThatIsNotWhole) {
  EXPECT_EQ(complete_utf8(""), 0U);
  EXPECT_EQ(complete_utf8("ab"), 2U);
  EXPECT_EQ(complete_utf8("a\xC3"), 1U);
  EXPECT_EQ(complete_utf8("a\xC3\xA9"), 3U);
  EXPECT_EQ(complete_utf8("a\xE6\xB5"), 1U);
  EXPECT_EQ(complete_utf8("a\xF0\x9F\x99"), 1U);
  EXPECT_EQ(complete_utf8("a\xF0\x9F\x99\x82"), 5U);
  EXPECT_EQ(complete_utf8("\x80\x80\x80\x80"), 4U);  // never becomes UTF-8
}

TEST(TextStream, GivesWholeCharactersAndInTheEndAllBytes) {
  TextStream stream(bytes_only());
  std::vector<std::string> pushed;
  for (int32_t id : bytes_only().encode("a\U0001f642é")) pushed.push_back(stream.push(id));
  EXPECT_EQ(pushed, (std::vector<std::string>{"a", "", "", "", "\U0001f642", "", "é"}));
  EXPECT_EQ(stream.rest(), "");
  int32_t lead = bytes_only().encode("\xE6")[0];
  EXPECT_EQ(stream.push(lead), "");
  EXPECT_EQ(stream.rest(), "\xE6");
  EXPECT_EQ(stream.rest(), "");
}

TEST(TextStream, LeavesSpecialTokensOutOnRequest) {
  int32_t end = bytes_only().end_of_text();
  EXPECT_EQ(TextStream(bytes_only()).push(end), kEndOfText);
  EXPECT_EQ(TextStream(bytes_only(), Specials::Skip).push(end), "");
}

}  // namespace
}  // namespace tethys
