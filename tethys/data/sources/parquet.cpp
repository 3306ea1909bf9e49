#include "data/sources/parquet.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <zlib.h>

#include <map>
#include <mutex>
#include <span>
#include <string_view>
#include <system_error>

#include "base/error.h"
#include "base/file.h"
#include "base/library_file.h"
#include "data/sources/byte_source.h"

namespace tethys {
namespace {

struct Loaded {
  const ParquetComponent* component = nullptr;
  std::string reason;  // why there is none
};

// Whether the last line of a library is what cmake/seal.py puts there: a checksum of all before it. Loading one that is
// damaged may end the process.
bool is_whole(const std::string& file) {
  constexpr std::string_view kBefore = "\nsealed ";
  constexpr size_t kSeal = kBefore.size() + 9;
  const MappedFile mapped(file);
  const std::span<const std::byte> bytes = mapped.bytes();
  if (bytes.size() < kSeal) return false;
  const std::span<const std::byte> library = bytes.first(bytes.size() - kSeal), seal = bytes.last(kSeal);
  const uLong checksum = ::crc32_z(0, reinterpret_cast<const Bytef*>(library.data()), library.size());
  return std::string_view(reinterpret_cast<const char*>(seal.data()), kSeal) ==
         fmt::format("{}{:08x}\n", kBefore, checksum);
}

// Never unloaded: Arrow keeps threads and tables of its own.
Loaded load(const std::string& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    return {nullptr, fmt::format("the reader of Parquet is not there: run `make parquet` (there is no {})", file)};
  }
  const auto damaged = [&](const std::string& how) {
    return Loaded{nullptr, fmt::format("the reader of Parquet, {}, is damaged: run `make parquet` ({})", file, how)};
  };
  if (!std::filesystem::is_regular_file(file, ignored)) return damaged("it is no regular file");
  if (is_cut_short(file)) return damaged("its end is missing");
  if (!is_whole(file)) return damaged("its last line has no checksum of all before it");
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return damaged(dlerror());
  const auto* interface = static_cast<const char*>(dlsym(library, "tethys_parquet_interface"));
  const auto* component = static_cast<const ParquetComponent*>(dlsym(library, "tethys_parquet"));
  if (interface == nullptr || component == nullptr || std::string_view(interface) != TETHYS_PARQUET_INTERFACE) {
    return {nullptr, fmt::format("the reader of Parquet, {}, is of another build: run `make parquet`", file)};
  }
  return {component, ""};
}

const ParquetComponent& component(const std::string& file) {
  static std::mutex mutex;
  static std::map<std::string, Loaded> all;
  const std::lock_guard lock(mutex);
  auto found = all.find(file);
  if (found == all.end()) found = all.emplace(file, load(file)).first;
  const Loaded& loaded = found->second;
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
      : path_(std::move(path)),
        rows_(reading(path_, [&] { return component(options.parquet_reader).open(path_, options); })) {}
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
    component(options.parquet_reader);
  } catch (const UserError& error) {
    user_error("cannot read {}: {}", path, error.what());
  }
  return std::make_unique<ParquetRows>(path, options);
}

std::string parquet_component(const std::string& file) { return component(file).reads_with; }

}  // namespace tethys
