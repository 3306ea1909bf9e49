// PjrtError: the device, or the plugin that drives it, failed. It carries the plugin's own code and text, the function
// of the C API that reported it, and the plugin's path.
//
//   try { client.compile(text, options); }
//   catch (const PjrtError& e) { if (e.code() == ErrorCode::ResourceExhausted) … }
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace tethys::pjrt {

// The codes of the C API, which are those of Abseil's status.
enum class ErrorCode : int {
  Cancelled = 1,
  Unknown = 2,
  InvalidArgument = 3,
  DeadlineExceeded = 4,
  NotFound = 5,
  AlreadyExists = 6,
  PermissionDenied = 7,
  ResourceExhausted = 8,
  FailedPrecondition = 9,
  Aborted = 10,
  OutOfRange = 11,
  Unimplemented = 12,
  Internal = 13,
  Unavailable = 14,
  DataLoss = 15,
  Unauthenticated = 16,
};

// "INVALID_ARGUMENT"; the number for a code that a newer plugin invented.
std::string name_of(ErrorCode code);

class PjrtError : public Error {
 public:
  PjrtError(ErrorCode code, std::string text, std::string_view function, std::string_view plugin);

  ErrorCode code() const { return code_; }
  // What the plugin said.
  const std::string& text() const { return text_; }
  const std::string& function() const { return function_; }
  const std::string& plugin() const { return plugin_; }

 private:
  ErrorCode code_;
  std::string text_;
  std::string function_;
  std::string plugin_;
};

}  // namespace tethys::pjrt
