#include "tools/exit_status.h"

#include <new>

#include "base/error.h"
#include "pjrt/error.h"

namespace tethys {

int exit_status_of(const std::exception& error) {
  if (dynamic_cast<const UserError*>(&error) != nullptr) return kUserMistake;
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return kDoesNotFit;
  if (const auto* device = dynamic_cast<const pjrt::PjrtError*>(&error)) {
    return device->code() == pjrt::ErrorCode::ResourceExhausted ? kDoesNotFit : kFailed;
  }
  return kFailed;
}

}  // namespace tethys
