// TemporaryFolder: a fresh, empty folder that goes with its content at the end of scope.
//
//   TemporaryFolder folder;
//   write_file(folder / "a.txt", "…");
#pragma once

#include <stdlib.h>

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/file.h"

namespace tethys {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "tethys-XXXXXX").string();
    require(::mkdtemp(name.data()) != nullptr, "no temporary folder {}", name);
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const Path& path() const { return path_; }
  Path operator/(std::string_view name) const { return path_ / name; }

 private:
  Path path_;
};

}  // namespace tethys
