#include "data/sources/named_sources.h"

#include <gmock/gmock.h>

#include "base/error.h"

namespace tethys {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Texts = std::vector<std::string>;

std::string error_of(const Texts& text, const Texts& mix) {
  try {
    named_sources(text, mix, "--data.mix");
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(NamedSources, WithoutAMixAllFilesAreOneSourceWhateverTheyAreCalled) {
  EXPECT_THAT(named_sources({"a:b.txt", "c"}, {}, ""), ElementsAre(NamedSource{"", 1, {"a:b.txt", "c"}}));
}

TEST(NamedSources, GathersTheGlobsOfEachNameAndScalesTheWeights) {
  EXPECT_THAT(named_sources({"b:x/*", "a:1.txt", "b:y:z"}, {"a=1", "b=3"}, ""),
              ElementsAre(NamedSource{"a", 0.25, {"1.txt"}}, NamedSource{"b", 0.75, {"x/*", "y:z"}}));
}

TEST(NamedSources, RefusesWeightsThatAreNone) {
  for (const char* weight : {"0", "-1", "-0", "", "x", "1x", "nan", "inf", "1e999"}) {
    EXPECT_EQ(error_of({"a:f", "b:g"}, {"a=1", fmt::format("b={}", weight)}),
              fmt::format("--data.mix: the weight of b is \"{}\"; expected a number above 0", weight));
  }
  EXPECT_THAT(error_of({"a:f", "b:g"}, {"a=1e308", "b=1e308"}), HasSubstr("too large to add up"));
  EXPECT_EQ(error_of({"a:f", "b:g"}, {"a=1e-300", "b=1e300"}),
            "--data.mix: the weight of a is 0 of all weights together; expected at least 1e-12 of them");
  EXPECT_EQ(named_sources({"a:f", "b:g"}, {"a=1e-12", "b=0.9"}, "").size(), 2U);
  EXPECT_THAT(error_of({"a:f"}, {"a"}), HasSubstr("\"a\" is no weight of a source; expected NAME=WEIGHT"));
  EXPECT_THAT(error_of({"a:f"}, {"=1"}), HasSubstr("\"=1\" is no weight of a source"));
}

TEST(NamedSources, RefusesNamesThatDoNotMatch) {
  EXPECT_THAT(error_of({"a:f"}, {"a=1", "a=2"}), HasSubstr("a has two weights"));
  EXPECT_THAT(error_of({"a:f"}, {"a=1", "b=2"}),
              HasSubstr("there is no source b; name its files in data.text as b:GLOB"));
  EXPECT_THAT(error_of({"a:f", "c:g"}, {"a=1"}),
              HasSubstr("c:g in data.text is of a source without a weight; the mix has a"));
  EXPECT_THAT(error_of({"f"}, {"a=1"}),
              HasSubstr("f in data.text belongs to no source; with a mix write NAME:GLOB, such as a:f"));
}

}  // namespace
}  // namespace tethys
