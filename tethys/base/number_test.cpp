#include "base/number.h"

#include <gtest/gtest.h>

namespace tethys {
namespace {

TEST(Number, IsReadFromTheWholeTextOrNotAtAll) {
  EXPECT_EQ(parse_number<int64_t>("-12"), -12);
  EXPECT_EQ(parse_number<int64_t>("+12"), 12);
  EXPECT_EQ(parse_number<double>("1e-4"), 1e-4);
  for (const char* text : {"", "+", "-", "+-5", "++5", "5 ", " 5", "5x", "0x10", "5.0", "9223372036854775808"}) {
    EXPECT_EQ(parse_number<int64_t>(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_number<int32_t>("2147483648"), std::nullopt);
  EXPECT_EQ(parse_number<double>("1e999"), std::nullopt);
}

TEST(Number, HasACommaBeforeEveryThreeDigits) {
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(1000), "1,000");
  EXPECT_EQ(with_commas(-123456), "-123,456");
  EXPECT_EQ(with_commas(8030261248), "8,030,261,248");
}

TEST(Number, OfThingsIsOneThingOrSeveral) {
  EXPECT_EQ(counted(1, "file"), "1 file");
  EXPECT_EQ(counted(0, "file"), "0 files");
  EXPECT_EQ(counted(1000, "file"), "1,000 files");
}

}  // namespace
}  // namespace tethys
