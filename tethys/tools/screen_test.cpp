#include "tools/screen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace tethys {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

TEST(Screen, OfNoTerminalShowsALineAtTheBeginningAndAtTheEndOfAStage) {
  std::ostringstream out;
  Screen screen(out, std::nullopt);
  for (int done : {0, 10, 20, 40}) screen.stage("tokenising", done, 40);
  screen.bar(1, 2, 1);
  EXPECT_THAT(out.str(), MatchesRegex("tokenising …\ntokenising: done in [0-9.]+ s\n"));
}

TEST(Screen, AStageThatEndsWithoutItsLastUnitIsEndedByWhatFollows) {
  std::ostringstream out;
  Screen screen(out, std::nullopt);
  screen.stage("counting", 0, 40);
  screen.stage("merging", 5, 40);
  screen.line("all");
  EXPECT_THAT(out.str(),
              MatchesRegex("counting …\ncounting: done in [0-9.]+ s\nmerging …\nmerging: done in [0-9.]+ s\nall\n"));
}

TEST(Screen, OfATerminalShowsABarThatIsWipedBeforeTheNextLine) {
  std::ostringstream out;
  Screen screen(out, 60);
  screen.stage("tokenising", 20, 40);
  EXPECT_THAT(out.str(), HasSubstr("tokenising [====="));
  EXPECT_THAT(out.str(), HasSubstr("20/40"));
  EXPECT_THAT(out.str(), Not(HasSubstr("\n")));
  const size_t bar = out.str().size();
  EXPECT_LT(bar, 60u);
  screen.line("next");
  EXPECT_THAT(out.str().substr(bar), testing::StartsWith("\r" + std::string(bar, ' ') + "\r"));
  EXPECT_THAT(out.str(), testing::EndsWith("next\n"));
}

TEST(Screen, LinesGoOnWhenTheOutputTakesThemAgain) {
  std::ostringstream out;
  Screen screen(out, std::nullopt);
  out.setstate(std::ios::badbit);
  screen.line("first");
  EXPECT_EQ(out.str(), "first\n");
}

}  // namespace
}  // namespace tethys
