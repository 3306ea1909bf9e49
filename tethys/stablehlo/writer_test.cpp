#include "stablehlo/writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace tethys::stablehlo {
namespace {

using testing::HasSubstr;

std::string text_of_splat(DType dtype, double value) {
  const auto body = [&](Writer& w, const std::vector<Ssa>&) { return std::vector<Ssa>{w.splat({dtype, {2}}, value)}; };
  return write_module({.name = "m", .devices = 1, .spmd = Spmd::Partitions}, {}, body);
}

TEST(Splat, TheEndsOfThe64BitTypesAreWhatADoubleBeyondThemStandsFor) {
  EXPECT_THAT(text_of_splat(DType::S64, 0x1p63), HasSubstr("dense<9223372036854775807>"));
  EXPECT_THAT(text_of_splat(DType::S64, -0x1p63), HasSubstr("dense<-9223372036854775808>"));
  EXPECT_THAT(text_of_splat(DType::U64, 0x1p64), HasSubstr("dense<18446744073709551615>"));
  EXPECT_THAT(text_of_splat(DType::U64, 0x1p63), HasSubstr("dense<9223372036854775808>"));
  EXPECT_THAT(text_of_splat(DType::U32, 4294967295.0), HasSubstr("dense<4294967295> : tensor<2xui32>"));
}

// IEEE 754: sign, exponent, fraction; of an infinity the exponent's bits are ones and the fraction's zeros.
TEST(Splat, WhatHasNoDecimalFormIsWrittenAsBits) {
  EXPECT_THAT(text_of_splat(DType::F32, -INFINITY), HasSubstr("dense<0xFF800000>"));
  EXPECT_THAT(text_of_splat(DType::BF16, INFINITY), HasSubstr("dense<0x7F80>"));
  EXPECT_THAT(text_of_splat(DType::F64, 0.1), HasSubstr("dense<1.00000000000000006e-01>"));
}

TEST(Locations, StandBehindTheOperationsThatTheyAreOfAndOnlyThere) {
  const auto body = [](Writer& w, const std::vector<Ssa>& x) {
    w.set_location("layers.0.norm");
    const Ssa y = w.op1("stablehlo.negate", {x[0]}, x[0].type);
    w.set_location("");
    return std::vector<Ssa>{w.op1("stablehlo.abs", {y}, y.type)};
  };
  const std::string text = write_module({}, {{{DType::F32, {2}}, -1}}, body);
  EXPECT_THAT(text,
              HasSubstr("\"stablehlo.negate\"(%0) : (tensor<2xf32>) -> (tensor<2xf32>) loc(\"layers.0.norm\")\n"));
  EXPECT_THAT(text, HasSubstr("\"stablehlo.abs\"(%1) : (tensor<2xf32>) -> (tensor<2xf32>)\n"));
}

}  // namespace
}  // namespace tethys::stablehlo
