// The program `tethys`: a table of commands. Here alone the environment is read, errors are printed, and the kind of an
// error becomes an exit status.
#include <fmt/core.h>
#include <malloc.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "tools/commands.h"
#include "tools/exit_status.h"

namespace tethys {
namespace {

const std::vector<const Command*> kCommands = {
    &kTrainCommand,          &kGenerateCommand,        &kInspectCommand,         &kConfigCommand,
    &kTokenizerTrainCommand, &kTokenizerEncodeCommand, &kTokenizerDecodeCommand,
};

// A CPU plugin asks for a program's temporaries anew at every step. By default they would go back to the system each
// time, and their pages be cleared and mapped again: a sixth of a small model's step.
void keep_freed_memory() {
  ::mallopt(M_MMAP_MAX, 0);
  ::mallopt(M_TRIM_THRESHOLD, -1);
  ::mallopt(M_ARENA_MAX, 1);
}

Path cache_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache == '/') return Path(cache) / "tethys";
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home == '/') return Path(home) / ".cache" / "tethys";
  return std::filesystem::temp_directory_path() / fmt::format("tethys-{}", ::getuid());
}

std::optional<int> terminal_width() {
  if (::isatty(STDOUT_FILENO) == 0) return std::nullopt;
  winsize size = {};
  const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

int run(int argc, char** argv) {
  keep_freed_memory();
  try {
    ::setenv("TF_CPP_MIN_LOG_LEVEL", "2", /*overwrite=*/0);  // plugins read it when they are loaded
    const char* flags = std::getenv("XLA_FLAGS");
    const Surroundings surroundings{std::filesystem::read_symlink("/proc/self/exe"), cache_folder(),
                                    flags == nullptr ? "" : flags, std::cout, terminal_width()};
    const int status = run_program(kCommands, {argv + 1, argv + argc}, surroundings);
    std::cout.flush();
    return status;
  } catch (const std::exception& error) {
    std::cout.flush();
    fmt::print(stderr, "tethys: {}\n", error.what());
    return exit_status_of(error);
  }
}

}  // namespace
}  // namespace tethys

int main(int argc, char** argv) { return tethys::run(argc, argv); }
