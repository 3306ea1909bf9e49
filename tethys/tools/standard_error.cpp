#include "tools/standard_error.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>

namespace tethys {
namespace {

// While it lives, a write of this thread to a pipe that nobody reads fails and does not end the process.
class NoBrokenPipe {
 public:
  NoBrokenPipe() noexcept {
    sigset_t pending;
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  NoBrokenPipe(const NoBrokenPipe&) = delete;
  NoBrokenPipe& operator=(const NoBrokenPipe&) = delete;
  ~NoBrokenPipe() {
    const timespec now = {};
    if (!was_pending_) ::sigtimedwait(&pipe_, nullptr, &now);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_, before_;
  bool was_pending_;
};

}  // namespace

void tell(std::string_view line) noexcept {
  const NoBrokenPipe fails_instead;
  std::array<iovec, 2> rest = {iovec{const_cast<char*>(line.data()), line.size()}, iovec{const_cast<char*>("\n"), 1}};
  while (rest[0].iov_len + rest[1].iov_len > 0) {
    const ssize_t written = ::writev(STDERR_FILENO, rest.data(), static_cast<int>(rest.size()));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    auto left = static_cast<size_t>(written);
    for (iovec& part : rest) {
      const size_t taken = left < part.iov_len ? left : part.iov_len;
      part.iov_base = static_cast<char*>(part.iov_base) + taken;
      part.iov_len -= taken;
      left -= taken;
    }
  }
}

void hold_standard_descriptors() noexcept {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) != -1 || errno != EBADF) continue;
    // The lowest number that is free is this one, as those below are taken now.
    static_cast<void>(::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY));
  }
}

}  // namespace tethys
