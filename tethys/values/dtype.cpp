#include "values/dtype.h"

#include <array>

#include "base/error.h"

namespace tethys {
namespace {

struct Row {
  DType dtype;
  size_t size;
  std::string_view name;
  std::string_view mlir_name;
  std::string_view long_name;
};

constexpr std::array<Row, 13> kRows = {{
    {DType::Bool, 1, "bool", "i1", "bool"},
    {DType::S8, 1, "s8", "i8", "int8"},
    {DType::S16, 2, "s16", "i16", "int16"},
    {DType::S32, 4, "s32", "i32", "int32"},
    {DType::S64, 8, "s64", "i64", "int64"},
    {DType::U8, 1, "u8", "ui8", "uint8"},
    {DType::U16, 2, "u16", "ui16", "uint16"},
    {DType::U32, 4, "u32", "ui32", "uint32"},
    {DType::U64, 8, "u64", "ui64", "uint64"},
    {DType::F16, 2, "f16", "f16", "float16"},
    {DType::BF16, 2, "bf16", "bf16", "bfloat16"},
    {DType::F32, 4, "f32", "f32", "float32"},
    {DType::F64, 8, "f64", "f64", "float64"},
}};

const Row& row(DType dtype) { return kRows.at(static_cast<size_t>(dtype)); }

}  // namespace

size_t size_of(DType dtype) { return row(dtype).size; }
std::string_view name_of(DType dtype) { return row(dtype).name; }
std::string_view mlir_name_of(DType dtype) { return row(dtype).mlir_name; }

DType parse_dtype(std::string_view name) {
  for (const Row& r : kRows) {
    if (r.name == name || r.long_name == name) return r.dtype;
  }
  user_error("unknown dtype '{}'; known are float64, float32, bfloat16, float16, int8 to int64, uint8 to uint64, bool",
             name);
}

bool is_floating(DType dtype) { return dtype >= DType::F16; }
bool is_signed_integer(DType dtype) { return dtype >= DType::S8 && dtype <= DType::S64; }
bool is_unsigned_integer(DType dtype) { return dtype >= DType::U8 && dtype <= DType::U64; }

DType promote(DType a, DType b) {
  if (a == b) return a;
  auto rank = [](DType d) { return is_floating(d) ? 2 : is_integer(d) ? 1 : 0; };
  if (rank(a) != rank(b)) return rank(a) > rank(b) ? a : b;
  if (size_of(a) != size_of(b)) return size_of(a) > size_of(b) ? a : b;
  return is_floating(a) ? DType::F32 : (is_signed_integer(a) ? a : b);
}

}  // namespace tethys
