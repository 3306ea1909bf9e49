#include "runtime/program_cache.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <span>
#include <string_view>

#include "base/error.h"
#include "base/hash.h"
#include "base/temporary_name.h"
#include "pjrt/error.h"
#include "pjrt/ffi.h"

namespace tethys {
namespace {

// What a file begins with; the hash of the rest follows. A plugin may crash on bytes that it did not write.
constexpr std::string_view kMagic = "tethys program 1\n";
constexpr size_t kHashDigits = 32;

constexpr std::string_view kExtension = ".program";
constexpr int64_t kMostStoredBytes = int64_t{4} << 30;

// Each part with its length before it, so that no two lists of parts run together alike.
class KeyHasher {
 public:
  void add(std::string_view part) {
    const uint64_t length = part.size();
    hasher_.update(std::as_bytes(std::span(&length, 1)));
    hasher_.update(std::as_bytes(std::span(part)));
  }
  std::string hex() const { return hasher_.hex(); }

 private:
  Hasher hasher_;
};

}  // namespace

std::string cpu_identity() {
  std::ifstream file("/proc/cpuinfo");
  std::string model;
  std::string flags;
  for (std::string line; std::getline(file, line) && (model.empty() || flags.empty());) {
    if (line.starts_with("model name")) model = line;
    if (line.starts_with("flags") || line.starts_with("Features")) flags = line;
  }
  return model + "\n" + flags;
}

pjrt::CompileOptions compile_options(const Mesh& mesh, const pjrt::OptionOverrides& compiler_options) {
  return {.num_replicas = 1,
          .num_partitions = mesh.size(),
          .use_spmd_partitioning = mesh.size() > 1,
          .env_option_overrides = compiler_options};
}

std::string content_key(const std::string& text, const pjrt::CompileOptions& options,
                        const std::vector<Handler>& handlers) {
  pjrt::CompileOptions anywhere = options;
  anywhere.device_assignment.reset();
  KeyHasher hasher;
  hasher.add(text);
  hasher.add(pjrt::serialize(anywhere));
  for (const Handler& handler : handlers) {
    hasher.add(handler.target);
    hasher.add(handler.version);
  }
  return hasher.hex();
}

std::string program_key(const std::string& text, const pjrt::CompileOptions& options, const CompilerIdentity& compiler,
                        const std::vector<Handler>& handlers) {
  KeyHasher hasher;
  hasher.add(content_key(text, options, handlers));
  hasher.add(pjrt::serialize(options));
  hasher.add(compiler.platform);
  hasher.add(compiler.plugin);
  hasher.add(compiler.cpu);
  hasher.add(std::to_string(compiler.devices));
  hasher.add(compiler.environment);
  return hasher.hex();
}

void remove_oldest(const Path& folder, int64_t most_bytes) {
  struct Stored {
    std::filesystem::file_time_type used;
    Path path;
    int64_t bytes;
  };
  std::vector<Stored> files;
  int64_t total = 0;
  remove_abandoned(folder, kExtension);
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code gone;  // removed by another process
    const auto used = entry->last_write_time(gone);
    const auto bytes = static_cast<int64_t>(entry->file_size(gone));
    if (gone) continue;
    if (entry->path().extension() != kExtension) continue;
    files.push_back({used, entry->path(), bytes});
    total += bytes;
  }
  std::sort(files.begin(), files.end(), [](const Stored& a, const Stored& b) { return a.used < b.used; });
  for (const Stored& file : files) {
    if (total <= most_bytes) return;
    std::filesystem::remove(file.path, error);
    total -= file.bytes;
  }
}

ProgramCache::ProgramCache(std::shared_ptr<const pjrt::Client> client, Path folder, std::vector<Handler> handlers,
                           std::string environment, std::optional<SavedProgram> saved)
    : client_(std::move(client)),
      folder_(std::move(folder)),
      handlers_(std::move(handlers)),
      compiler_{client_->platform_name() + " " + client_->platform_version(), client_->plugin()->version(),
                cpu_identity(), static_cast<int64_t>(client_->devices().size()), std::move(environment)},
      saved_(std::move(saved)) {
  // Before anything is loaded: a stored program looks its handlers up then.
  for (const Handler& handler : handlers_) {
    pjrt::register_ffi_handler(client_->plugin(), handler.target,
                               reinterpret_cast<pjrt::FfiHandler*>(handler.function));
  }
}

std::vector<Handler> ProgramCache::handlers_of(const Program& program) const {
  std::vector<Handler> called;
  for (const Callee& callee : program.callees) {
    const auto found =
        std::find_if(handlers_.begin(), handlers_.end(), [&](const Handler& h) { return h.target == callee.target; });
    require(found != handlers_.end(), "a program calls '{}', for which the Executor was given no handler",
            callee.target);
    require(found->version == callee.version, "a program calls version {} of '{}', the Executor was given version {}",
            callee.version, callee.target, found->version);
    called.push_back(*found);
  }
  return called;
}

std::shared_ptr<const LoadedProgram> ProgramCache::get(const Program& program, const pjrt::CompileOptions& options) {
  const std::string key = program_key(program.text, options, compiler_, handlers_of(program));
  if (std::shared_ptr<const LoadedProgram> known = find(key)) return known;
  const std::shared_ptr<const LoadedProgram> loaded =
      is_saved(program, options) ? load_saved() : make(program, options, key);
  const std::lock_guard lock(mutex_);
  return programs_.emplace(key, loaded).first->second;
}

bool ProgramCache::is_saved(const Program& program, const pjrt::CompileOptions& options) const {
  return saved_ && saved_->key == content_key(program.text, options, handlers_of(program));
}

std::shared_ptr<const LoadedProgram> ProgramCache::load_saved() {
  try {
    pjrt::LoadedExecutable executable = client_->load(saved_->executable);
    count([](Counters& counters) { ++counters.saved_loads; });
    const pjrt::MemoryStats memory = executable.executable().memory_stats();
    return std::make_shared<const LoadedProgram>(LoadedProgram{std::move(executable), memory, true});
  } catch (const pjrt::PjrtError& error) {
    user_error("{}: the plugin does not load the executable: {}", saved_->origin, error.what());
  }
}

// From disk, or else by the compiler.
std::shared_ptr<const LoadedProgram> ProgramCache::make(const Program& program, const pjrt::CompileOptions& options,
                                                        const std::string& key) {
  const Path path = folder_.empty() ? Path() : folder_ / (key + std::string(kExtension));
  std::shared_ptr<const LoadedProgram> loaded = path.empty() ? nullptr : load(path);
  if (loaded) {
    count([](Counters& counters) { ++counters.disk_hits; });
  } else {
    pjrt::LoadedExecutable executable = compile(program.text, options);
    count([](Counters& counters) { ++counters.compiles; });
    if (!path.empty()) store(path, executable.executable());
    const pjrt::MemoryStats memory = executable.executable().memory_stats();
    loaded = std::make_shared<const LoadedProgram>(LoadedProgram{std::move(executable), memory});
  }
  return loaded;
}

pjrt::LoadedExecutable ProgramCache::compile(const std::string& text, const pjrt::CompileOptions& options) {
  struct Timed {
    explicit Timed(ProgramCache& cache) : cache(cache) {
      const std::lock_guard lock(cache.mutex_);
      if (cache.compiling_++ == 0) cache.compiling_since_ = std::chrono::steady_clock::now();
    }
    Timed(const Timed&) = delete;
    Timed& operator=(const Timed&) = delete;
    ~Timed() {
      const std::lock_guard lock(cache.mutex_);
      if (--cache.compiling_ > 0) return;
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - cache.compiling_since_;
      cache.counters_.compile_seconds += took.count();
    }
    ProgramCache& cache;
  };
  const Timed timed(*this);
  return client_->compile(text, options);
}

std::shared_ptr<const LoadedProgram> ProgramCache::find(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = programs_.find(key);
  if (found == programs_.end()) return nullptr;
  ++counters_.memory_hits;
  return found->second;
}

void ProgramCache::count(const std::function<void(Counters&)>& change) {
  const std::lock_guard lock(mutex_);
  change(counters_);
}

ProgramCache::Counters ProgramCache::counters() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

std::shared_ptr<const LoadedProgram> ProgramCache::load(const Path& path) {
  if (std::error_code ignored; !std::filesystem::exists(path, ignored)) return nullptr;
  try {
    const MappedFile file(path);
    const std::string_view content(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
    const size_t header = kMagic.size() + kHashDigits;
    if (content.size() > header && content.starts_with(kMagic)) {
      const std::string_view payload = content.substr(header);
      if (content.substr(kMagic.size(), kHashDigits) == hash_hex(payload)) {
        pjrt::LoadedExecutable executable = client_->load(payload);
        std::error_code ignored;
        std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now(), ignored);
        const pjrt::MemoryStats memory = executable.executable().memory_stats();
        return std::make_shared<const LoadedProgram>(LoadedProgram{std::move(executable), memory, true});
      }
    }
  } catch (const Error&) {
    // Compiled again below.
  }
  count([](Counters& counters) { ++counters.refused_files; });
  return nullptr;
}

void ProgramCache::store(const Path& path, const pjrt::Executable& executable) {
  try {
    make_directories(path.parent_path());
    const std::string payload = executable.serialize();
    write_file(path, std::string(kMagic) + hash_hex(payload) + payload);
    remove_oldest(path.parent_path(), kMostStoredBytes);
  } catch (const Error&) {
    count([](Counters& counters) { ++counters.failed_stores; });
  }
}

}  // namespace tethys
