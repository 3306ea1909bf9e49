// Between NamedValues and the C API's arrays. For the sources of pjrt/ only.
#pragma once

#include <xla/pjrt/c/pjrt_c_api.h>

#include <vector>

#include "pjrt/named_value.h"

namespace tethys::pjrt {

NamedValues from_c(const PJRT_NamedValue* values, size_t count);

// The result points into `values`, which must outlive it.
std::vector<PJRT_NamedValue> to_c(const NamedValues& values);

}  // namespace tethys::pjrt
