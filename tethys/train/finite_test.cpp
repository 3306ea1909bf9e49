#include "train/finite.h"

#include <gtest/gtest.h>

#include <limits>

#include "values/host_tensor.h"

namespace tethys {
namespace {

class Finite : public testing::TestWithParam<DType> {};

TEST_P(Finite, FindsAnInfinityAndANanAndNothingElse) {
  const auto all = [](double value) {
    const double values[] = {1, -2, 0, value, 5};
    const HostTensor tensor = HostTensor::from_doubles({GetParam(), {5}}, values);
    return all_finite(GetParam(), tensor.bytes());
  };
  EXPECT_TRUE(all(-65504));  // the largest of float16
  EXPECT_TRUE(all(1e-6));
  EXPECT_FALSE(all(std::numeric_limits<double>::infinity()));
  EXPECT_FALSE(all(-std::numeric_limits<double>::infinity()));
  EXPECT_FALSE(all(std::numeric_limits<double>::quiet_NaN()));
}

INSTANTIATE_TEST_SUITE_P(OfFloats, Finite, testing::Values(DType::F64, DType::F32, DType::BF16, DType::F16));

TEST(Finite, WholeNumbersAlwaysAre) {
  const std::vector<std::byte> ones(8, std::byte{0xFF});
  EXPECT_TRUE(all_finite(DType::S32, ones));
  EXPECT_FALSE(all_finite(DType::F32, ones));
}

}  // namespace
}  // namespace tethys
