// FFI: C++ functions that a program calls by name. A handler is a function of XLA's FFI API (xla/ffi/api/ffi.h makes
// one from a plain function); register it before a program that calls it is compiled or loaded. It stays registered in
// the plugin for the rest of the process.
//
//   register_ffi_handler(plugin, "tethys_matmul", matmul_handler);
//   if (!has_ffi_handler(client, "tethys_matmul")) …the reference is used instead
#pragma once

#include <memory>
#include <string>

#include "pjrt/client.h"
#include "pjrt/plugin.h"

struct XLA_FFI_Error;
struct XLA_FFI_CallFrame;

namespace tethys::pjrt {

using FfiHandler = XLA_FFI_Error*(XLA_FFI_CallFrame*);

// Whether the plugin takes handlers at all.
bool has_ffi(const Plugin& plugin);

// PjrtError: Unimplemented if the plugin takes no handlers, else the plugin's reason for refusing this one. Plugins
// have been seen to refuse in silence (a handler built with headers newer than the plugin): has_ffi_handler tells.
void register_ffi_handler(const std::shared_ptr<const Plugin>& plugin, const std::string& name, FfiHandler* handler,
                          const std::string& platform = "Host");

// Whether programs of this client can call the name. There is no function to ask, so it compiles a program of one call,
// which takes milliseconds; the handler does not run.
bool has_ffi_handler(const Client& client, const std::string& name);

}  // namespace tethys::pjrt
