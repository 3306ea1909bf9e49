// AtomicFolder: a folder that is made under a temporary name next to its own, which it takes in commit(), when all of
// it is there. Without a commit nothing appears. A folder that holds something is never replaced, also where it came
// meanwhile.
//
//   AtomicFolder folder("my-llama");
//   write_file(folder / "config.json", text);
//   folder.commit();
#pragma once

#include <string_view>

#include "base/file.h"

namespace tethys {

class AtomicFolder {
 public:
  // UserError if the path is something else than an empty folder, or than nothing.
  explicit AtomicFolder(const Path& path);
  AtomicFolder(const AtomicFolder&) = delete;
  AtomicFolder& operator=(const AtomicFolder&) = delete;
  ~AtomicFolder();

  // Where it will be, absolute.
  const Path& path() const { return path_; }
  // Where it is now.
  const Path& now() const { return temporary_; }
  Path operator/(std::string_view name) const { return temporary_ / name; }

  void commit();

 private:
  Path given_, path_, temporary_;
  Descriptor claim_;
  bool done_ = false;
};

}  // namespace tethys
