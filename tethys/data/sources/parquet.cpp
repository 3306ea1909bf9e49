#include "data/sources/parquet.h"

#include <dlfcn.h>

#include <system_error>

#include "base/error.h"
#include "base/file.h"
#include "data/sources/byte_source.h"

namespace tethys {
namespace {

const ParquetComponent& component() {
  static const ParquetComponent* found = nullptr;
  static std::string reason;
  [[maybe_unused]] static const bool looked = [] {
    const Path file = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "tethys_parquet.so";
    // Never unloaded: Arrow keeps threads and tables of its own.
    if (void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL); library != nullptr) {
      found = static_cast<const ParquetComponent*>(dlsym(library, "tethys_parquet"));
    }
    if (found == nullptr) reason = dlerror();
    return true;
  }();
  if (found == nullptr) user_error("the reader of Parquet is not there: run `make parquet` ({})", reason);
  return *found;
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
