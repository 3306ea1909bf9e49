// What the tests of this folder share.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/file.h"

namespace tethys {

// The message of the UserError that the function throws; "no error" if it throws none.
template <typename Function>
std::string user_error_of(Function&& function) {
  try {
    function();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

// A folder of recipes for one test, gone at its end.
class RecipeFolder {
 public:
  RecipeFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "recipes_XXXXXX").string();
    require(mkdtemp(name.data()) != nullptr, "no temporary folder {}", name);
    path_ = name;
  }
  RecipeFolder(const RecipeFolder&) = delete;
  RecipeFolder& operator=(const RecipeFolder&) = delete;
  ~RecipeFolder() { remove_path(path_); }

  const Path& path() const { return path_; }
  // The file's path as text.
  std::string write(const std::string& name, std::string_view text) const {
    std::ofstream(path_ / name) << text;
    return (path_ / name).string();
  }

 private:
  Path path_;
};

}  // namespace tethys
