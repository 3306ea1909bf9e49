// Between DType and PJRT_Buffer_Type. For the sources of pjrt/ only.
#pragma once

#include <xla/pjrt/c/pjrt_c_api.h>

#include "values/dtype.h"

namespace tethys::pjrt {

PJRT_Buffer_Type to_c(DType dtype);
// UserError for a type that Tethys has no name for (complex, float8, …).
DType from_c(PJRT_Buffer_Type type);

}  // namespace tethys::pjrt
