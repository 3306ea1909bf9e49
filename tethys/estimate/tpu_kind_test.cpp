#include "estimate/tpu_kind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace tethys {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string complaint(const std::string& topology) {
  try {
    slice_named(topology);
  } catch (const UserError& error) {
    return error.what();
  }
  return "none";
}

TEST(Slices, HaveAsManyDevicesAsTheirNameSays) {
  EXPECT_EQ(slice_named("v5e:2x2").devices(), 4);
  EXPECT_EQ(slice_named("v6e:16x16").devices(), 256);
  EXPECT_EQ(slice_named("v6e:16x16", 2).devices(), 512);
  EXPECT_EQ(slice_named("v5p:8x8x8").devices(), 512);
  EXPECT_EQ(slice_named("v5p:16x16x24").devices(), 6144);
  EXPECT_EQ(slice_named("tpu7x:4x4x8").devices(), 256);  // two a chip
  EXPECT_EQ(slice_named("v4:2x2x1").devices(), 8);       // likewise
  EXPECT_EQ(to_string(slice_named("v6e:2x4", 3)), "3 × v6e:2x4");
}

TEST(Slices, OfNoKnownNameAreRefusedWithTheKnownOnes) {
  EXPECT_THAT(complaint("v9:2x2"), AllOf(HasSubstr("'v9:2x2' is no topology"), HasSubstr("v5e:AxB, sides 1, 2, 4, 8"),
                                         HasSubstr("tpu7x:AxBxC"), HasSubstr("8,960 chips")));
  EXPECT_THAT(complaint("v7x:2x2x1"), HasSubstr("the nearest is tpu7x"));
  EXPECT_THAT(complaint("v5litepod:2x2"), HasSubstr("the nearest is v5e"));
  EXPECT_THAT(complaint("v6e"), HasSubstr("no colon"));
  EXPECT_THAT(complaint("v6e:two"), HasSubstr("no numbers"));
  EXPECT_THAT(complaint("v6e:"), HasSubstr("no numbers"));
}

TEST(Slices, OfChipsThatNoSliceHasAreRefused) {
  EXPECT_THAT(complaint("v6e:2x2x2"), HasSubstr("a grid of 2 sides, not 3"));
  EXPECT_THAT(complaint("v5p:8x8"), HasSubstr("a grid of 3 sides, not 2"));
  EXPECT_THAT(complaint("v6e:32x16"), HasSubstr("no slice has a side of 32"));
  EXPECT_THAT(complaint("v5p:3x4x4"), HasSubstr("no slice has a side of 3"));
  EXPECT_THAT(complaint("v5p:0x4x4"), HasSubstr("no slice has a side of 0"));
  EXPECT_THAT(complaint("v4:16x16x20"), HasSubstr("a slice of v4 has fewer chips"));
  EXPECT_THAT(complaint("v4:4000000000x4000000000x4000000000"), HasSubstr("fewer chips"));
}

// The matrix units of a device: so many multiplications and additions in a cycle.
TEST(TpuKinds, HavePeaksThatTheirMatrixUnitsReachAtTheirClock) {
  for (const TpuKind& kind : tpu_kinds()) {
    const double in_a_cycle = kind.peak_flops / kind.clock, unit = 2.0 * 128 * 128;
    EXPECT_NEAR(in_a_cycle / unit, std::round(in_a_cycle / unit), 0.02) << kind.name;
  }
}

}  // namespace
}  // namespace tethys
