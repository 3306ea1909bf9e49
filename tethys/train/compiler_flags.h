// The compiler's flags that the options of section `compile` stand for on a kind of TPU.
//
//   compiler_flags(config, "v6e")          // xla_tpu_… names and values, and those of device.compile_options
//   compiler_flags(config, "TPU v6 lite")  // as a client names it
#pragma once

#include <string_view>

#include "pjrt/compile_options.h"

namespace tethys {

class Config;

// Those of device.compile_options win. A device that is no TPU has only those.
pjrt::OptionOverrides compiler_flags(const Config& config, std::string_view device_kind);

}  // namespace tethys
