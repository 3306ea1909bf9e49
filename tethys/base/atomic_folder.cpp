#include "base/atomic_folder.h"

#include <fcntl.h>

#include <cerrno>

#include "base/disk.h"
#include "base/error.h"
#include "base/temporary_name.h"

namespace tethys {
AtomicFolder::AtomicFolder(const Path& path) : given_(path), path_(followed(whole_path(path))) {
  std::error_code ignored;
  if (std::filesystem::exists(path_, ignored) &&
      !(std::filesystem::is_directory(path_, ignored) && std::filesystem::is_empty(path_, ignored))) {
    user_error("{} is there already and not an empty folder; give another one", path.string());
  }
  make_directories(path_.parent_path());
  remove_abandoned_of(path_);
  do {
    temporary_ = temporary_name(path_);
    make_directories(temporary_);
    claim_ = Descriptor(::open(temporary_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  } while (!claim_temporary(claim_.get(), temporary_));
}

AtomicFolder::~AtomicFolder() {
  if (done_) return;
  try {
    remove_path(temporary_);
  } catch (const Error&) {  // what went wrong before is what must be known
  }
}

void AtomicFolder::commit() {
  sync_directory(temporary_);
  if (disk::rename(temporary_, path_) != 0) {
    const int reason = errno;
    if (reason == ENOTEMPTY || reason == EEXIST || reason == ENOTDIR) {
      user_error("{} was made by another process meanwhile, and is left as it is; give another folder",
                 given_.string());
    }
    throw_file_error("cannot write " + given_.string(), reason);
  }
  done_ = true;
  sync_directory(path_.parent_path());
}

}  // namespace tethys
