#include "values/shape.h"

#include <gtest/gtest.h>

namespace tethys {
namespace {

TEST(Shape, CountsElementsAndAScalarHasOne) {
  EXPECT_EQ(element_count({2, 3, 4}), 24);
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({5, 0}), 0);
}

TEST(Shape, ARangeOfDimensionsEndsBeforeItsEnd) {
  EXPECT_EQ(dim_range(1, 4), (Dims{1, 2, 3}));
  EXPECT_EQ(dim_range(2, 2), Dims{});
}

TEST(TensorType, PrintsItsDTypeAndSizes) {
  EXPECT_EQ(to_string(TensorType{DType::F32, {8, 512}}), "f32[8,512]");
  EXPECT_EQ(to_string(TensorType{DType::Bool, {}}), "bool[]");
}

TEST(TensorType, KnowsItsSizeInBytes) {
  const TensorType type{DType::BF16, {3, 5}};
  EXPECT_EQ(type.rank(), 2);
  EXPECT_EQ(type.bytes(), 30);
  EXPECT_EQ(type.with_dtype(DType::F64).bytes(), 120);
  EXPECT_EQ(TensorType(DType::Bool, {7}).bytes(), 7);
}

}  // namespace
}  // namespace tethys
