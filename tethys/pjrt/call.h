// call: the one way into the C API. It fills struct_size, checks that the plugin is new enough to have the function,
// and turns a PJRT_Error into a PjrtError, freeing it. For the sources of pjrt/ only.
//
//   auto args = call(plugin, TETHYS_PJRT(PJRT_Buffer_Memory), [&](auto& a) { a.buffer = buffer; });
//   args.memory …
#pragma once

#include <xla/pjrt/c/pjrt_c_api.h>

#include <cstddef>
#include <memory>
#include <type_traits>

#include "pjrt/error.h"
#include "pjrt/plugin.h"

namespace tethys::pjrt {

// A function of the C API: where it stands in PJRT_Api, its name, and the size of its argument struct. The size is not
// sizeof, which counts tail padding that an older plugin may read as fields.
template <typename Result, typename Args>
struct Function {
  Result (*PJRT_Api::*member)(Args*);
  const char* name;
  size_t args_size;
};

#define TETHYS_PJRT(function) \
  ::tethys::pjrt::Function { &PJRT_Api::function, #function, function##_Args_STRUCT_SIZE }

// Throws the PjrtError that `error` stands for, and frees it; returns if it is null.
void check(const std::shared_ptr<const Plugin>& plugin, const char* function, PJRT_Error* error);

[[noreturn]] void throw_missing_function(const Plugin& plugin, const char* function);

// Whether the plugin's table reaches as far as the function and has it.
template <typename Result, typename Args>
bool has_function(const PJRT_Api* api, const Function<Result, Args>& function) {
  const auto offset =
      static_cast<size_t>(reinterpret_cast<const char*>(&(api->*function.member)) - reinterpret_cast<const char*>(api));
  return offset + sizeof(void*) <= api->struct_size && api->*function.member != nullptr;
}

struct NoFill {
  void operator()(auto&) const {}
};

// Calls the function with the arguments that `fill` sets, and returns them with the plugin's answers.
template <typename Result, typename Args, typename Fill = NoFill>
Args call(const std::shared_ptr<const Plugin>& plugin, const Function<Result, Args>& function, Fill&& fill = {}) {
  if (!has_function(plugin->api(), function)) throw_missing_function(*plugin, function.name);
  Args args{};
  args.struct_size = function.args_size;
  fill(args);
  if constexpr (std::is_void_v<Result>) {
    (plugin->api()->*function.member)(&args);
  } else {
    check(plugin, function.name, (plugin->api()->*function.member)(&args));
  }
  return args;
}

}  // namespace tethys::pjrt
