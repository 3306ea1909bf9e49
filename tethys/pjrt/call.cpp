#include "pjrt/call.h"

#include <string>

#include "pjrt/handle.h"

namespace tethys::pjrt {

void check(const std::shared_ptr<const Plugin>& plugin, const char* function, PJRT_Error* error) {
  if (error == nullptr) return;
  const Handle<PJRT_Error> owned = adopt(plugin, error);
  const auto message = call(plugin, TETHYS_PJRT(PJRT_Error_Message), [&](auto& a) { a.error = error; });
  std::string text(message.message, message.message_size);
  const auto code = call(plugin, TETHYS_PJRT(PJRT_Error_GetCode), [&](auto& a) { a.error = error; }).code;
  throw PjrtError(static_cast<ErrorCode>(code), std::move(text), function, plugin->path());
}

void throw_missing_function(const Plugin& plugin, const char* function) {
  const ApiVersion version = plugin.api_version();
  throw PjrtError(ErrorCode::Unimplemented,
                  fmt::format("the plugin, of PJRT API {}.{}, has no such function", version.major, version.minor),
                  function, plugin.path());
}

}  // namespace tethys::pjrt
