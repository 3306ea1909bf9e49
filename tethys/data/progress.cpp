#include "data/progress.h"

#include <algorithm>
#include <filesystem>

namespace tethys {

BytesRead::BytesRead(const std::vector<std::string>& files, std::string_view stage, const Progress& progress)
    : stage_(stage), progress_(progress) {
  std::error_code gone;  // reading it is what fails, with a message
  for (const std::string& file : files) {
    const auto size = static_cast<int64_t>(std::filesystem::file_size(file, gone));
    if (!gone) total_ += size;
  }
  tell(0);
}

void BytesRead::add(int64_t bytes) {
  std::lock_guard lock(mutex_);
  done_ += bytes;
  if (done_ - told_ >= std::max<int64_t>(1, total_ / 100) && done_ < total_) tell(done_);
}

void BytesRead::tell(int64_t done) {
  told_ = done;
  report(progress_, stage_, done, total_);
}

}  // namespace tethys
