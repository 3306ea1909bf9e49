#include "pjrt/buffer_type.h"

#include "base/error.h"

namespace tethys::pjrt {
namespace {

struct Pair {
  DType ours;
  PJRT_Buffer_Type theirs;
};

constexpr Pair kPairs[] = {
    {DType::Bool, PJRT_Buffer_Type_PRED}, {DType::S8, PJRT_Buffer_Type_S8},     {DType::S16, PJRT_Buffer_Type_S16},
    {DType::S32, PJRT_Buffer_Type_S32},   {DType::S64, PJRT_Buffer_Type_S64},   {DType::U8, PJRT_Buffer_Type_U8},
    {DType::U16, PJRT_Buffer_Type_U16},   {DType::U32, PJRT_Buffer_Type_U32},   {DType::U64, PJRT_Buffer_Type_U64},
    {DType::F16, PJRT_Buffer_Type_F16},   {DType::BF16, PJRT_Buffer_Type_BF16}, {DType::F32, PJRT_Buffer_Type_F32},
    {DType::F64, PJRT_Buffer_Type_F64},
};

}  // namespace

PJRT_Buffer_Type to_c(DType dtype) {
  for (const Pair& pair : kPairs) {
    if (pair.ours == dtype) return pair.theirs;
  }
  internal_error("dtype {} has no PJRT buffer type", name_of(dtype));
}

DType from_c(PJRT_Buffer_Type type) {
  for (const Pair& pair : kPairs) {
    if (pair.theirs == type) return pair.ours;
  }
  user_error("a buffer of PJRT type {}, which has no Tethys dtype; convert it inside the program",
             static_cast<int>(type));
}

}  // namespace tethys::pjrt
