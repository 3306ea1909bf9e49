#include "tools/standard_error.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "base/temporary_folder.h"

namespace tethys {
namespace {

// Standard error is another file, or none, while it lives.
class Elsewhere {
 public:
  explicit Elsewhere(int fd) : before_(::dup(STDERR_FILENO)) {
    if (fd < 0) ::close(STDERR_FILENO);
    if (fd >= 0) ::dup2(fd, STDERR_FILENO);
  }
  Elsewhere(const Elsewhere&) = delete;
  Elsewhere& operator=(const Elsewhere&) = delete;
  ~Elsewhere() { ::dup2(before_.get(), STDERR_FILENO); }

 private:
  Descriptor before_;
};

TEST(StandardError, IsToldALine) {
  TemporaryFolder folder;
  {
    const Descriptor file(::open((folder / "errors").c_str(), O_WRONLY | O_CREAT, 0600));
    const Elsewhere there(file.get());
    tell("one");
    tell("");
    tell("two");
  }
  EXPECT_EQ(read_file(folder / "errors"), "one\n\ntwo\n");
}

TEST(StandardError, NoFailureOfItIsSeen) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  const Descriptor unread(ends[1]), full(::open("/dev/full", O_WRONLY));
  ASSERT_EQ(std::signal(SIGPIPE, SIG_DFL), SIG_DFL);  // it would end this process
  for (const int fd : {unread.get(), full.get(), -1}) {
    const Elsewhere there(fd);
    tell("one");
  }
  sigset_t pending;
  ASSERT_EQ(::sigpending(&pending), 0);
  EXPECT_EQ(::sigismember(&pending, SIGPIPE), 0);
}

}  // namespace
}  // namespace tethys
