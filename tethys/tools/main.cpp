// The program `tethys`: a table of commands. Here alone the environment is read, errors are printed, and the kind of an
// error becomes an exit status.
#include <fmt/core.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "tools/commands.h"
#include "tools/exit_status.h"
#include "tools/standard_error.h"
#include "tools/version.h"

namespace tethys {
namespace {

const Commands kCommands = {
    &kTrainCommand,
    &kGenerateCommand,
    &kEvalCommand,
    &kInspectCommand,
    &kCompileCommand,
    &kConfigCommand,
    &kConvertCommand,
    &kCheckpointVerifyCommand,
    &kCheckpointListCommand,
    &kDoctorCommand,
    &kDataCommand,
    &kReportCommand,
    &kCompletionCommand,
    &kTokenizerTrainCommand,
    &kTokenizerEncodeCommand,
    &kTokenizerDecodeCommand,
};

Path cache_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache == '/') return Path(cache) / "tethys";
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home == '/') return Path(home) / ".cache" / "tethys";
  std::error_code none;
  const Path temporary = std::filesystem::temp_directory_path(none);
  return (none ? Path("/tmp") : temporary) / fmt::format("tethys-{}", ::getuid());
}

std::optional<int> terminal_width() {
  if (::isatty(STDOUT_FILENO) == 0) return std::nullopt;
  winsize size = {};
  const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

bool reader_is_gone() {
  pollfd out{STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
}

int run(int argc, char** argv) {
  hold_standard_descriptors();
  try {
    ::setenv("TF_CPP_MIN_LOG_LEVEL", "2", /*overwrite=*/0);  // plugins read it when they are loaded
    const char* flags = std::getenv("XLA_FLAGS");
    const Surroundings surroundings{kVersion,       std::filesystem::read_symlink("/proc/self/exe"),
                                    cache_folder(), flags == nullptr ? "" : flags,
                                    std::cin,       ::isatty(STDIN_FILENO) != 0,
                                    std::cout,      terminal_width(),
                                    reader_is_gone};
    return run_program(kCommands, {argv + 1, argv + argc}, surroundings);
  } catch (const std::exception& error) {
    std::cout.flush();
    tell("tethys: " + message_of(error));
    return exit_status_of(error);
  }
}

}  // namespace
}  // namespace tethys

int main(int argc, char** argv) { return tethys::run(argc, argv); }
