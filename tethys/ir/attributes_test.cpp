#include "ir/attributes.h"

#include <gtest/gtest.h>

#include "ir/testing.h"

namespace tethys {
namespace {

using ir_testing::bug;
using ir_testing::Times;

struct Other {
  int64_t factor;
  bool operator==(const Other&) const = default;
};
std::string describe(const Other& a) { return fmt::format("other {}", a.factor); }

TEST(Attributes, AreEqualWhereTypeAndContentAre) {
  const Attributes three = Times{3};
  EXPECT_EQ(three, Attributes(Times{3}));
  EXPECT_FALSE(three == Attributes(Times{4}));
  EXPECT_FALSE(three == Attributes(Other{3}));
  EXPECT_FALSE(three == Attributes());
  EXPECT_EQ(Attributes(), Attributes());
}

TEST(Attributes, PrintAndReadBackAsTheirOwnType) {
  const Attributes a = Times{3};
  EXPECT_EQ(a.to_string(), "factor 3");
  EXPECT_EQ(Attributes().to_string(), "");
  EXPECT_EQ(a.as<Times>().factor, 3);
  EXPECT_NE(bug([&] { a.as<Other>(); }).find("attributes read as"), std::string::npos);
  EXPECT_NE(bug([] { Attributes().as<Times>(); }).find("attributes read as"), std::string::npos);
}

}  // namespace
}  // namespace tethys
