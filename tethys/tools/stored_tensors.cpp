#include "tools/stored_tensors.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>

#include "base/number.h"
#include "base/shown.h"
#include "checkpoint/store.h"
#include "train/run_folder.h"

namespace tethys {
namespace {

constexpr const char* kSuffix = ".safetensors";

struct Row {
  std::string name;
  TensorType type;
};

std::vector<Path> safetensors_in(const Path& folder) {
  std::vector<Path> files;
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error), end;
  for (; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() == kSuffix) files.push_back(entry->path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

void print_rows(std::ostream& out, const std::vector<Row>& rows) {
  size_t name_width = 4, shape_width = 5;
  for (const Row& row : rows) {
    name_width = std::max(name_width, shown(row.name).size());
    shape_width = std::max(shape_width, to_string(row.type.dims).size());
  }
  int64_t elements = 0, bytes = 0;
  for (const Row& row : rows) {
    fmt::print(out, "  {:<{}}  {:<4}  {:<{}}  {:>16} bytes\n", shown(row.name), name_width, name_of(row.type.dtype),
               to_string(row.type.dims), shape_width, with_commas(row.type.bytes()));
    elements += row.type.elements();
    bytes += row.type.bytes();
  }
  fmt::print(out, "{} tensors, {} elements, {} bytes\n", with_commas(static_cast<int64_t>(rows.size())),
             with_commas(elements), with_commas(bytes));
}

void print_file(std::ostream& out, const Path& path) {
  const SafetensorsFile file(path);
  fmt::print(out, "{}\n", path.string());
  for (const auto& [key, value] : file.metadata()) fmt::print(out, "  {} = {}\n", shown(key), shown(value));
  std::vector<Row> rows;
  for (const SafetensorsEntry& entry : file.entries()) rows.push_back({entry.name, entry.type});
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.name < b.name; });
  print_rows(out, rows);
}

void print_checkpoint(std::ostream& out, const Checkpoint& checkpoint) {
  const Manifest& manifest = checkpoint.manifest();
  fmt::print(out, "{}: step {}, seed {}, in {} file{}\n", checkpoint.path().string(), manifest.state.step,
             manifest.state.seed, manifest.files.size(), manifest.files.size() == 1 ? "" : "s");
  std::vector<Row> rows;
  for (const auto& [name, tensor] : manifest.tensors) rows.push_back({name, tensor.type});
  print_rows(out, rows);
}

bool is_plain_folder(const Path& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored) && !std::filesystem::exists(path / "manifest.json", ignored) &&
         !safetensors_in(path).empty();
}

}  // namespace

bool is_stored(const Path& path) {
  std::error_code ignored;
  return path.extension() == kSuffix || std::filesystem::is_directory(path, ignored);
}

void print_stored(std::ostream& out, const Path& path) {
  if (path.extension() == kSuffix) return print_file(out, path);
  if (!is_plain_folder(path)) return print_checkpoint(out, open_checkpoint_of(path));
  for (const Path& file : safetensors_in(path)) print_file(out, file);
}

}  // namespace tethys
