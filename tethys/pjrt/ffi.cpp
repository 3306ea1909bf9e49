#include "pjrt/ffi.h"

#include "pjrt/call.h"
#include "pjrt/executable.h"

namespace tethys::pjrt {
namespace {

// The FFI extension of the C API, whose header is not part of the plugin's package.
struct RegisterHandlerArgs {
  size_t struct_size;
  const char* target_name;
  size_t target_name_size;
  void* handler;
  const char* platform_name;
  size_t platform_name_size;
  int traits;
};
constexpr size_t kRegisterHandlerArgsSize = offsetof(RegisterHandlerArgs, traits) + sizeof(int);

struct FfiExtension {
  PJRT_Extension_Base base;
  void* type_id_register;
  void* user_data_add;
  PJRT_Error* (*register_handler)(RegisterHandlerArgs*);
};

const FfiExtension* find_ffi(const Plugin& plugin) {
  const PJRT_Extension_Base* base = plugin.find_extension(PJRT_Extension_Type_FFI);
  if (base == nullptr || base->struct_size < sizeof(FfiExtension)) return nullptr;
  const auto* extension = reinterpret_cast<const FfiExtension*>(base);
  return extension->register_handler == nullptr ? nullptr : extension;
}

}  // namespace

bool has_ffi(const Plugin& plugin) { return find_ffi(plugin) != nullptr; }

void register_ffi_handler(const std::shared_ptr<const Plugin>& plugin, const std::string& name, FfiHandler* handler,
                          const std::string& platform) {
  constexpr const char* kFunction = "PJRT_FFI_Register_Handler";
  const FfiExtension* extension = find_ffi(*plugin);
  if (extension == nullptr) {
    throw PjrtError(ErrorCode::Unimplemented,
                    fmt::format("the plugin takes no FFI handlers, so none can be registered as {}", name), kFunction,
                    plugin->path());
  }
  RegisterHandlerArgs args{};
  args.struct_size = kRegisterHandlerArgsSize;
  args.target_name = name.data();
  args.target_name_size = name.size();
  args.handler = reinterpret_cast<void*>(handler);
  args.platform_name = platform.data();
  args.platform_name_size = platform.size();
  check(plugin, kFunction, extension->register_handler(&args));
}

bool has_ffi_handler(const Client& client, const std::string& name) {
  const std::string program = fmt::format(
      R"("builtin.module"() ({{
  "func.func"() ({{
    %0 = "stablehlo.custom_call"() {{call_target_name = "{}", api_version = 4 : i32, has_side_effect = true, backend_config = {{}}}} : () -> tensor<f32>
    "func.return"(%0) : (tensor<f32>) -> ()
  }}) {{function_type = () -> tensor<f32>, sym_name = "main"}} : () -> ()
}}) : () -> ())",
      name);
  try {
    client.compile(program);
    return true;
  } catch (const PjrtError& error) {
    if (error.code() == ErrorCode::NotFound) return false;
    throw;
  }
}

}  // namespace tethys::pjrt
