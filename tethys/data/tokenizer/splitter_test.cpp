#include "data/tokenizer/splitter.h"

#include <gmock/gmock.h>

#include <random>
#include <string>
#include <vector>

namespace tethys {
namespace {

using testing::ElementsAre;

std::vector<std::string> split(std::string_view text, const Splitter& splitter = ascii_classes()) {
  std::vector<std::string> pieces;
  splitter.for_each(text, [&](std::string_view piece) { pieces.emplace_back(piece); });
  return pieces;
}

const Splitter& llama3() {
  return *find_splitter(
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)");
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

TEST(Llama3Words, AWordTakesOneCharacterBeforeItThatIsNeitherLineBreakNorDigit) {
  EXPECT_THAT(split("(x) \ty\nz1w", llama3()), ElementsAre("(x", ")", " ", "\ty", "\n", "z", "1", "w"));
}

TEST(Llama3Words, ContractionsAreCutInAnyCase) {
  EXPECT_THAT(split("it's IT'S we'LL x'ſ 'x", llama3()),
              ElementsAre("it", "'s", " IT", "'S", " we", "'LL", " x", "'ſ", " '", "x"));
}

TEST(Llama3Words, LettersAndDigitsAreThoseOfAllScripts) {
  EXPECT_THAT(split("Ωκ१२३४é", llama3()), ElementsAre("Ωκ", "१२३", "४", "é"));
}

TEST(Llama3Words, MarksTakeTheLineBreaksAfterThem) {
  EXPECT_THAT(split("a;\n\n  b", llama3()), ElementsAre("a", ";\n\n", " ", " b"));
}

TEST(Gpt2Words, TakeASpaceBeforeAnything) {
  EXPECT_THAT(split("a 12 !x\n'S's", gpt2_words()), ElementsAre("a", " 12", " !", "x", "\n", "'", "S", "'s"));
}

TEST(Digits, AreCutFromWhatIsBetweenThem) {
  EXPECT_THAT(split("ab12c", single_digits()), ElementsAre("ab", "1", "2", "c"));
  EXPECT_THAT(split("ab12c", digit_runs()), ElementsAre("ab", "12", "c"));
}

TEST(Splitters, GivePiecesThatJoinToTheTextWhateverItsBytes) {
  std::mt19937 random(1);
  const std::string alphabet = " \t\n\raZ09!_'s\x80\xff\x01\xCC\xC3\xA9\xE2\x82\xF0\x9F/";
  std::vector<const Splitter*> splitters = {&ascii_classes(), &llama3(), &gpt2_words(), &single_digits(),
                                            &digit_runs()};
  for (int round = 0; round < 500; ++round) {
    std::string text;
    for (unsigned i = random() % 40; i > 0; --i) text += alphabet[random() % alphabet.size()];
    for (const Splitter* splitter : splitters) {
      std::string joined;
      for (const std::string& piece : split(text, *splitter)) {
        ASSERT_FALSE(piece.empty());
        joined += piece;
      }
      ASSERT_EQ(joined, text);
    }
  }
}

TEST(FindSplitter, KnowsOurPatternAndNoOther) {
  EXPECT_EQ(find_splitter(ascii_classes().pattern), &ascii_classes());
  EXPECT_EQ(find_splitter("\\s+"), nullptr);
}

}  // namespace
}  // namespace tethys
