#include "values/dtype.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace tethys {
namespace {

TEST(DType, EveryNameReadsBack) {
  for (DType dtype : kAllDTypes) EXPECT_EQ(parse_dtype(name_of(dtype)), dtype) << name_of(dtype);
}

TEST(DType, HasTheNamesOfTheFieldAndOfStableHLO) {
  EXPECT_EQ(parse_dtype("bfloat16"), DType::BF16);
  EXPECT_EQ(parse_dtype("int64"), DType::S64);
  EXPECT_EQ(mlir_name_of(DType::Bool), "i1");
  EXPECT_EQ(mlir_name_of(DType::S32), "i32");
  EXPECT_EQ(mlir_name_of(DType::U8), "ui8");
}

TEST(DType, AnUnknownNameIsTheUsersMistake) {
  try {
    parse_dtype("float8");
    FAIL();
  } catch (const UserError& e) {
    EXPECT_STREQ(e.what(),
                 "unknown dtype 'float8'; known are float64, float32, bfloat16, float16, int8 to int64, uint8 to "
                 "uint64, bool");
  }
}

TEST(DType, HasOneKind) {
  for (DType dtype : kAllDTypes) {
    const int kinds = is_floating(dtype) + is_signed_integer(dtype) + is_unsigned_integer(dtype);
    EXPECT_EQ(kinds, dtype == DType::Bool ? 0 : 1) << name_of(dtype);
  }
  EXPECT_TRUE(is_floating(DType::F16) && is_signed_integer(DType::S8) && is_unsigned_integer(DType::U64));
}

TEST(DType, PromotesToTheKindAboveAndThenToTheWider) {
  EXPECT_EQ(promote(DType::F32, DType::BF16), DType::F32);
  EXPECT_EQ(promote(DType::F32, DType::F64), DType::F64);
  EXPECT_EQ(promote(DType::F16, DType::BF16), DType::F32);  // neither holds the other
  EXPECT_EQ(promote(DType::S64, DType::BF16), DType::BF16);
  EXPECT_EQ(promote(DType::Bool, DType::S8), DType::S8);
  EXPECT_EQ(promote(DType::U8, DType::S32), DType::S32);
  for (DType a : kAllDTypes) {
    EXPECT_EQ(promote(a, a), a);
    for (DType b : kAllDTypes) EXPECT_EQ(promote(a, b), promote(b, a)) << name_of(a) << " " << name_of(b);
  }
}

}  // namespace
}  // namespace tethys
