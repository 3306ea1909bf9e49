#include "base/glob.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace tethys {
namespace {

TEST(Glob, TextMatchesItselfAndNothingElse) {
  EXPECT_TRUE(glob_match("layers.0.wq", "layers.0.wq"));
  EXPECT_FALSE(glob_match("layers.0.wq", "layers.0.wqx"));
  EXPECT_FALSE(glob_match("layers.0.wq", "xlayers.0.wq"));
  EXPECT_FALSE(glob_match("wq", "layers.0.wq"));
  EXPECT_TRUE(glob_match("", ""));
  EXPECT_FALSE(glob_match("", "a"));
}

TEST(Glob, OneStarStaysInsideAComponent) {
  EXPECT_TRUE(glob_match("layers.*.wq", "layers.12.wq"));
  EXPECT_TRUE(glob_match("layers.*", "layers."));
  EXPECT_TRUE(glob_match("*_norm", "ffn_norm"));
  EXPECT_TRUE(glob_match("w*", "w"));
  EXPECT_TRUE(glob_match("*a*b*", "xxaxxbxx"));
  EXPECT_FALSE(glob_match("layers.*.wq", "layers.0.attention.wq"));
  EXPECT_FALSE(glob_match("*", "layers.0"));
}

TEST(Glob, QuestionMarkIsOneCharacterOfAComponent) {
  EXPECT_TRUE(glob_match("w?", "w1"));
  EXPECT_FALSE(glob_match("w?", "w"));
  EXPECT_FALSE(glob_match("w?", "w10"));
  EXPECT_FALSE(glob_match("a?b", "a.b"));
}

TEST(Glob, TwoStarsCrossComponents) {
  EXPECT_TRUE(glob_match("**", ""));
  EXPECT_TRUE(glob_match("**", "layers.0.wq"));
  EXPECT_TRUE(glob_match("layers.**", "layers.0.attention.wq"));
  EXPECT_FALSE(glob_match("layers.**", "layers"));
  EXPECT_TRUE(glob_match("**norm", "layers.0.ffn_norm"));
  EXPECT_TRUE(glob_match("layers.**.w?", "layers.0.feed_forward.w1"));
}

TEST(Glob, TwoStarsAsAComponentMayStandForNoneAndNeverCutAComponent) {
  EXPECT_TRUE(glob_match("**.wq", "wq"));
  EXPECT_TRUE(glob_match("**.wq", "layers.0.attention.wq"));
  EXPECT_FALSE(glob_match("**.wq", "layers.0.attention.xwq"));
  EXPECT_FALSE(glob_match("**.wq", "xwq"));
  EXPECT_TRUE(glob_match("a.**.b", "a.b"));
  EXPECT_TRUE(glob_match("a.**.b", "a.x.y.b"));
  EXPECT_FALSE(glob_match("a.**.b", "a.xb"));
}

TEST(Glob, TheSeparatorCanBeASlash) {
  EXPECT_TRUE(glob_match("lib/**/*.py", "lib/a.py", '/'));
  EXPECT_TRUE(glob_match("lib/**/*.py", "lib/json/tool.py", '/'));
  EXPECT_FALSE(glob_match("lib/*.py", "lib/json/tool.py", '/'));
}

TEST(Glob, ComponentsThatAreNumbersBecomeStars) {
  EXPECT_EQ(with_stars("layers.12.attention.wq"), "layers.*.attention.wq");
  EXPECT_EQ(with_stars("layers.w1.3"), "layers.w1.*");
  EXPECT_EQ(with_stars("norm"), "norm");
  EXPECT_EQ(with_stars(""), "");
}

TEST(Glob, AHostilePatternStaysCheap) {
  std::string pattern;
  for (int i = 0; i < 50; ++i) pattern += "*a";
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(glob_match(pattern + "b", std::string(2000, 'a')));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

}  // namespace
}  // namespace tethys
