#include "tools/exit_status.h"

#include <new>

#include "base/error.h"
#include "pjrt/error.h"
#include "train/fit.h"

namespace tethys {

int exit_status_of(const std::exception& error) {
  if (dynamic_cast<const UserError*>(&error) != nullptr) return kUserMistake;
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return kDoesNotFit;
  if (dynamic_cast<const DoesNotFitError*>(&error) != nullptr) return kDoesNotFit;
  if (const auto* device = dynamic_cast<const pjrt::PjrtError*>(&error)) {
    return device->code() == pjrt::ErrorCode::ResourceExhausted ? kDoesNotFit : kFailed;
  }
  return kFailed;
}

std::string message_of(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) == nullptr) return error.what();
  return "this machine's memory is used up; lower training.local_batch_size, training.global_batch_size or "
         "training.seq_len, or take a smaller model";
}

}  // namespace tethys
