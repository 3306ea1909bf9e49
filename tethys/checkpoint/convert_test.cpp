#include "checkpoint/convert.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/error.h"
#include "values/host_tensor.h"

namespace tethys {
namespace {

template <typename To, typename From>
std::vector<To> converted(DType from, const std::vector<From>& values, DType to) {
  std::vector<To> result(values.size());
  convert(from, std::as_bytes(std::span(values)), to, std::as_writable_bytes(std::span(result)));
  return result;
}

TEST(Convert, RoundsToTheNearestBF16AndTiesToTheEven) {
  // 1 + 2^-7 is the bf16 after 1; halves between lie at 2^-8.
  const float half = 1 + 0x1p-8F, next_half = 1 + 3 * 0x1p-8F;
  const std::vector<float> values = {1, half, std::nextafter(half, 2.0F), next_half, -half, 0x1p-133F};
  EXPECT_EQ((converted<uint16_t>(DType::F32, values, DType::BF16)),
            (std::vector<uint16_t>{0x3F80, 0x3F80, 0x3F81, 0x3F82, 0xBF80, 0x0001}));
  const float most = std::numeric_limits<float>::max(), infinite = std::numeric_limits<float>::infinity();
  EXPECT_EQ((converted<uint16_t>(DType::F32, std::vector<float>{most, -infinite}, DType::BF16)),
            (std::vector<uint16_t>{0x7F80, 0xFF80}));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto back =
      converted<float>(DType::BF16, converted<uint16_t>(DType::F32, std::vector<float>{nan}, DType::BF16), DType::F32);
  EXPECT_TRUE(std::isnan(back[0]));
}

TEST(Convert, ADoubleIsRoundedOnce) {
  // Rounded to float first, this would be the tie, and then 1.
  const std::vector<double> values = {1 + 0x1p-8 + 0x1p-40, 1 + 0x1p-8 - 0x1p-40, -(1 + 0x1p-8 + 0x1p-40)};
  EXPECT_EQ((converted<uint16_t>(DType::F64, values, DType::BF16)), (std::vector<uint16_t>{0x3F81, 0x3F80, 0xBF81}));
}

TEST(Convert, AgreesWithTheConversionOfTensors) {
  std::vector<double> values;
  for (int i = -200; i < 200; ++i) values.push_back(std::ldexp(1.0 + 0.00371 * i, i / 10));
  for (DType from : {DType::F16, DType::BF16, DType::F32, DType::F64}) {
    const HostTensor source = HostTensor::from_doubles({from, {400}}, values);
    for (DType to : {DType::F16, DType::BF16, DType::F32, DType::F64}) {
      HostTensor target(TensorType{to, {400}});
      convert(from, source.bytes(), to, target.bytes());
      EXPECT_EQ(target, HostTensor::from_doubles({to, {400}}, source.to_doubles())) << name_of(from) << name_of(to);
    }
  }
  EXPECT_THROW(converted<float>(DType::F32, std::vector<float>{1}, DType::F64), InternalError);
}

}  // namespace
}  // namespace tethys
