#include "pjrt/error.h"

#include <algorithm>
#include <utility>

namespace tethys::pjrt {

std::string name_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::Cancelled: return "CANCELLED";
    case ErrorCode::Unknown: return "UNKNOWN";
    case ErrorCode::InvalidArgument: return "INVALID_ARGUMENT";
    case ErrorCode::DeadlineExceeded: return "DEADLINE_EXCEEDED";
    case ErrorCode::NotFound: return "NOT_FOUND";
    case ErrorCode::AlreadyExists: return "ALREADY_EXISTS";
    case ErrorCode::PermissionDenied: return "PERMISSION_DENIED";
    case ErrorCode::ResourceExhausted: return "RESOURCE_EXHAUSTED";
    case ErrorCode::FailedPrecondition: return "FAILED_PRECONDITION";
    case ErrorCode::Aborted: return "ABORTED";
    case ErrorCode::OutOfRange: return "OUT_OF_RANGE";
    case ErrorCode::Unimplemented: return "UNIMPLEMENTED";
    case ErrorCode::Internal: return "INTERNAL";
    case ErrorCode::Unavailable: return "UNAVAILABLE";
    case ErrorCode::DataLoss: return "DATA_LOSS";
    case ErrorCode::Unauthenticated: return "UNAUTHENTICATED";
  }
  return fmt::format("code {}", static_cast<int>(code));
}

namespace {

// On one line, without the places in the plugin's source.
std::string in_one_line(std::string_view text) {
  std::string line(text.substr(0, text.find("\n=== Source Location Trace")));
  std::replace(line.begin(), line.end(), '\n', ' ');
  return shown(line.substr(0, line.find_last_not_of(' ') + 1));
}

}  // namespace

PjrtError::PjrtError(ErrorCode code, std::string text, std::string_view function, std::string_view plugin)
    : Error(fmt::format("{}: {}: {} (plugin {})", function, name_of(code), in_one_line(text), plugin)),
      code_(code),
      text_(std::move(text)),
      function_(function),
      plugin_(plugin) {}

}  // namespace tethys::pjrt
