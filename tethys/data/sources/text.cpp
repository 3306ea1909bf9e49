#include "data/sources/text.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/error.h"
#include "base/glob.h"

namespace tethys {
namespace {

namespace fs = std::filesystem;

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

// A pipe or a device may have no end, and holds no document.
bool is_special(const fs::path& path) {
  std::error_code error;
  return fs::is_other(fs::status(path, error));
}

// A link that leads nowhere is there too: reading it is what fails, with a message.
bool is_there(const fs::path& path) {
  std::error_code error;
  fs::file_type type = fs::symlink_status(path, error).type();
  return type != fs::file_type::not_found && type != fs::file_type::none;
}

// The leading components that hold no * or ?: where a search begins.
fs::path spelt_out(const fs::path& pattern) {
  fs::path folder;
  for (const fs::path& part : pattern) {
    if (part.string().find_first_of("*?") != std::string::npos) break;
    folder /= part;
  }
  return folder;
}

void search(const fs::path& pattern, std::vector<std::string>& found) {
  fs::path begin = spelt_out(pattern);
  if (begin == pattern) {
    if (is_folder(begin)) {
      user_error("{0} is a folder: {0}/**/*.txt names the text files in it, at any depth", begin.string());
    }
    if (is_special(begin)) user_error("{} is a device, pipe or socket: expected a file", begin.string());
    if (is_there(begin)) found.push_back(begin.string());
    return;
  }
  bool any_depth = pattern.string().find("**") != std::string::npos;
  auto depth = std::distance(pattern.begin(), pattern.end()) - std::distance(begin.begin(), begin.end());
  if (!begin.empty() && !is_folder(begin)) return;

  std::error_code error;
  fs::recursive_directory_iterator entry(begin.empty() ? "." : begin, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    fs::path path = begin.empty() ? entry->path().lexically_normal() : entry->path();
    bool hidden = path.filename().string().starts_with('.');
    bool too_deep = !any_depth && entry.depth() + 1 >= depth;
    if (hidden || too_deep) entry.disable_recursion_pending();
    if (hidden || is_folder(path) || is_special(path)) continue;
    if (glob_match(pattern.string(), path.string(), '/')) found.push_back(path.string());
  }
  if (error) {
    user_error("cannot read a folder below {} (for {}): {}", begin.string(), pattern.string(), error.message());
  }
}

}  // namespace

std::vector<std::string> find_text_files(const std::vector<std::string>& patterns) {
  if (patterns.empty()) {
    user_error("data.text names no files: expected at least one path or glob, such as corpus/**/*.txt");
  }
  std::vector<std::string> found;
  for (const std::string& pattern : patterns) {
    size_t before = found.size();
    search(fs::path(pattern).lexically_normal(), found);
    if (found.size() == before) {
      const bool named = pattern.find(':') != std::string::npos;
      user_error(
          "no file matches {}: expected the path of a text file or a glob (* within a name, ** for any folders){}",
          pattern.empty() ? "''" : pattern,
          named ? "; NAME:GLOB is a source of data.mix, which gives each its weight" : "");
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace tethys
