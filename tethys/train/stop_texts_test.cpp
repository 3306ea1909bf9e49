#include "train/stop_texts.h"

#include <gtest/gtest.h>

namespace tethys {
namespace {

// What is given piece by piece, a '|' after each; then whether a stop was found.
std::string given(const std::vector<std::string>& stops, const std::vector<std::string>& pieces) {
  StopTexts texts(stops);
  std::string result;
  for (const std::string& piece : pieces) result += texts.push(piece) + "|";
  return result + (texts.found() ? "found" : "rest " + texts.rest());
}

TEST(StopTexts, EndTheTextBeforeTheFirstOfThem) {
  EXPECT_EQ(given({"."}, {"one. two.", "three"}), "one||found");
  EXPECT_EQ(given({"two", "."}, {"one. two"}), "one|found");
  EXPECT_EQ(given({}, {"one", "two"}), "one|two|rest ");
}

TEST(StopTexts, ThatBeginAtTheEndOfAPieceHoldItBack) {
  EXPECT_EQ(given({"STOP"}, {"aS", "TO", "Pb"}), "a|||found");
  EXPECT_EQ(given({"STOP"}, {"aS", "TO", "b"}), "a||STOb|rest ");
  EXPECT_EQ(given({"STOP"}, {"aSTO"}), "a|rest STO");
  // The beginning that was held back goes on as another one.
  EXPECT_EQ(given({"aab"}, {"aa", "ab", "c"}), "|a||found");
  EXPECT_EQ(given({"abc", "bx"}, {"ab", "x"}), "|a|found");
}

TEST(StopTexts, GiveNothingOnceOneWasFound) {
  StopTexts texts({"x"});
  EXPECT_EQ(texts.push("axb"), "a");
  EXPECT_TRUE(texts.found());
  EXPECT_EQ(texts.push("c"), "");
  EXPECT_EQ(texts.rest(), "");
}

}  // namespace
}  // namespace tethys
