#include "values/host_tensor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tethys {
namespace {

// The doubles after a trip through a dtype.
std::vector<double> through(DType dtype, const std::vector<double>& values) {
  return HostTensor::from_doubles({dtype, {static_cast<int64_t>(values.size())}}, values).to_doubles();
}

TEST(HostTensor, IsRowMajorAndTyped) {
  const HostTensor t = HostTensor::of<float>({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(to_string(t.type()), "f32[2,2]");
  EXPECT_EQ(t.as<float>()[3], 4);
  EXPECT_EQ(t.bytes().size(), 16U);
  EXPECT_EQ(HostTensor::scalar<int64_t>(-7).to_doubles(), std::vector<double>{-7});
  EXPECT_EQ(HostTensor(TensorType{DType::S16, {3}}).to_doubles(), (std::vector<double>{0, 0, 0}));
}

TEST(HostTensor, EveryDTypeHoldsSmallIntegers) {
  for (DType dtype : kAllDTypes) {
    EXPECT_EQ(through(dtype, {0, 1}), (std::vector<double>{0, 1})) << name_of(dtype);
  }
  EXPECT_EQ(through(DType::Bool, {5}), std::vector<double>{1});
}

TEST(HostTensor, BFloat16RoundsHalvesToEven) {
  // Eight bits of precision: between 1 and 1 + 1/128 lies the half 1 + 1/256.
  EXPECT_EQ(through(DType::BF16, {1 + 1.0 / 256}), std::vector<double>{1});
  EXPECT_EQ(through(DType::BF16, {1 + 3.0 / 256}), std::vector<double>{1 + 2.0 / 128});
  EXPECT_EQ(through(DType::BF16, {1 + 1.1 / 256}), std::vector<double>{1 + 1.0 / 128});
  EXPECT_EQ(through(DType::F16, {1 + 1.0 / 2048, 65504}), (std::vector<double>{1, 65504}));
}

TEST(HostTensor, InfinitiesAndNaNsSurvive) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (DType dtype : {DType::F16, DType::BF16, DType::F32, DType::F64}) {
    EXPECT_EQ(through(dtype, {-kInfinity}), std::vector<double>{-kInfinity}) << name_of(dtype);
    EXPECT_TRUE(std::isnan(through(dtype, {std::nan("")})[0])) << name_of(dtype);
  }
}

// The message of the bug.
template <typename Make>
std::string bug(const Make& make) {
  try {
    make();
  } catch (const InternalError& e) {
    return e.what();
  }
  return "no error";
}

TEST(HostTensor, RefusesBytesAndElementsThatDoNotFit) {
  const TensorType type{DType::F32, {3}};
  EXPECT_EQ(bug([&] { HostTensor(type, std::vector<std::byte>(11)); }), "11 bytes for a tensor of type f32[3]");
  EXPECT_EQ(bug([&] { HostTensor::of<float>({3}, {1, 2}); }), "2 values for a tensor of type f32[3]");
  EXPECT_EQ(bug([&] { HostTensor::from_doubles(type, {}); }), "0 values for a tensor of type f32[3]");
  EXPECT_EQ(bug([&] { HostTensor(type).as<double>(); }), "a tensor of type f32[3] read as elements of 8 bytes");
}

}  // namespace
}  // namespace tethys
