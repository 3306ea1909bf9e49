// DType: the element types of XLA that Tethys uses, with their names in StableHLO and in our own printing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tethys {

enum class DType : uint8_t { Bool, S8, S16, S32, S64, U8, U16, U32, U64, F16, BF16, F32, F64 };

inline constexpr DType kAllDTypes[] = {DType::Bool, DType::S8,  DType::S16, DType::S32, DType::S64,
                                       DType::U8,   DType::U16, DType::U32, DType::U64, DType::F16,
                                       DType::BF16, DType::F32, DType::F64};

// Bytes of one element in memory (Bool takes one).
size_t size_of(DType dtype);

// Our name, also that of JAX: "bool", "s32", "u8", "bf16", "f64".
std::string_view name_of(DType dtype);

// The name in StableHLO text: "i1", "i32", "ui8", "bf16", "f64".
std::string_view mlir_name_of(DType dtype);

// The inverse of name_of; also takes the field's long names ("float32", "bfloat16", "int64"). UserError if unknown.
DType parse_dtype(std::string_view name);

bool is_floating(DType dtype);
bool is_signed_integer(DType dtype);
bool is_unsigned_integer(DType dtype);
inline bool is_integer(DType dtype) { return is_signed_integer(dtype) || is_unsigned_integer(dtype); }

// The dtype that a mixed operation computes in: floating wins over integer, integer over bool; then the wider; of f16
// and bf16 together, f32. So promote(F32, compute) is "float32" in the sense of accumulators, norms and losses.
DType promote(DType a, DType b);

}  // namespace tethys
