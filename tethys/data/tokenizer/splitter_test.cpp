#include "data/tokenizer/splitter.h"

#include <gmock/gmock.h>

#include <random>
#include <string>
#include <vector>

namespace tethys {
namespace {

using testing::ElementsAre;

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> pieces;
  ascii_classes().for_each(text, [&](std::string_view piece) { pieces.emplace_back(piece); });
  return pieces;
}

TEST(AsciiClasses, AWordTakesOneSpaceBeforeIt) {
  EXPECT_THAT(split("two words"), ElementsAre("two", " words"));
  EXPECT_THAT(split("   three"), ElementsAre("  ", " three"));
}

TEST(AsciiClasses, MarksAreARunOfTheirOwn) {
  EXPECT_THAT(split("f(x) == y;"), ElementsAre("f", "(", "x", ")", " ==", " y", ";"));
}

TEST(AsciiClasses, DigitsComeInGroupsOfThreeAndWithoutASpace) {
  EXPECT_THAT(split("a 1234567"), ElementsAre("a", " ", "123", "456", "7"));
}

TEST(AsciiClasses, WhatIsBeyondAsciiIsALetter) { EXPECT_THAT(split("naïve 海は"), ElementsAre("naïve", " 海は")); }

TEST(AsciiClasses, ControlBytesAreMarks) {
  EXPECT_THAT(split(std::string_view("a\x00\x7f", 3)), ElementsAre("a", std::string("\x00\x7f", 2)));
}

TEST(AsciiClasses, WhiteSpaceEndsAtItsLastLineBreak) {
  EXPECT_THAT(split("x \n\n    y"), ElementsAre("x", " \n\n", "   ", " y"));
  EXPECT_THAT(split("x\r\n"), ElementsAre("x", "\r\n"));
}

TEST(AsciiClasses, WhiteSpaceLeavesItsLastCharacterToWhatFollows) {
  EXPECT_THAT(split("\t\tx"), ElementsAre("\t", "\t", "x"));
  EXPECT_THAT(split("  1"), ElementsAre(" ", " ", "1"));
  EXPECT_THAT(split("x   "), ElementsAre("x", "   "));
}

TEST(AsciiClasses, PiecesJoinToTheText) {
  std::mt19937 random(1);
  const std::string alphabet = " \t\n\raZ09!_\x80\xff\x01";
  for (int round = 0; round < 500; ++round) {
    std::string text;
    for (unsigned i = random() % 40; i > 0; --i) text += alphabet[random() % alphabet.size()];
    std::string joined;
    for (const std::string& piece : split(text)) {
      ASSERT_FALSE(piece.empty());
      joined += piece;
    }
    ASSERT_EQ(joined, text);
  }
}

TEST(FindSplitter, KnowsOurPatternAndNoOther) {
  EXPECT_EQ(find_splitter(ascii_classes().pattern), &ascii_classes());
  EXPECT_EQ(find_splitter("\\s+"), nullptr);
}

}  // namespace
}  // namespace tethys
