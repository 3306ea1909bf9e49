#include "data/sources/parquet.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <string_view>
#include <system_error>

#include "base/error.h"
#include "base/file.h"
#include "data/sources/byte_source.h"

namespace tethys {
namespace {

struct Loaded {
  const ParquetComponent* component = nullptr;
  std::string reason;  // why there is none
};

// Never unloaded: Arrow keeps threads and tables of its own.
Loaded load() {
  const Path file = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "tethys_parquet.so";
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return {nullptr, fmt::format("the reader of Parquet is not there: run `make parquet` ({})", dlerror())};
  }
  const auto* interface = static_cast<const char*>(dlsym(library, "tethys_parquet_interface"));
  const auto* component = static_cast<const ParquetComponent*>(dlsym(library, "tethys_parquet"));
  if (interface == nullptr || component == nullptr || std::string_view(interface) != TETHYS_PARQUET_INTERFACE) {
    return {nullptr, fmt::format("the reader of Parquet, {}, is of another build: run `make parquet`", file.string())};
  }
  return {component, ""};
}

const ParquetComponent& component() {
  static const Loaded loaded = load();
  if (loaded.component == nullptr) user_error("{}", loaded.reason);
  return *loaded.component;
}

template <typename Read>
auto reading(const std::string& path, const Read& read) {
  try {
    return read();
  } catch (const std::system_error& error) {
    throw_file_error("cannot read " + path, error.code().value());
  }
}

class ParquetRows : public LineSource {
 public:
  ParquetRows(std::string path, const LineOptions& options)
      : path_(std::move(path)), rows_(reading(path_, [&] { return component().open(path_, options); })) {}
  bool next(Line& line) override {
    return reading(path_, [&] { return rows_->next(line); });
  }
  int64_t position() const override { return rows_->position(); }

 private:
  std::string path_;
  std::unique_ptr<LineSource> rows_;
};

}  // namespace

std::unique_ptr<LineSource> open_parquet(const std::string& path, const LineOptions& options) {
  if (is_compressed(path)) {
    user_error("{} is a packed Parquet file, which cannot be read: unpack it; Parquet is compressed within", path);
  }
  try {
    component();
  } catch (const UserError& error) {
    user_error("cannot read {}: {}", path, error.what());
  }
  return std::make_unique<ParquetRows>(path, options);
}

std::string parquet_component() { return component().reads_with; }

}  // namespace tethys
