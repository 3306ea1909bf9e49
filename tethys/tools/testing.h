// What the tests of this folder share: running the built program as a process of its own.
#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/temporary_folder.h"

namespace tethys {

struct Ended {
  int status = 0;      // the exit status; 128 + n where signal n killed it
  std::string output;  // standard output and error together
};

// A program that runs. It must be awaited.
class Process {
 public:
  explicit Process(const std::vector<std::string>& arguments) {
    std::vector<char*> argv{const_cast<char*>(TETHYS_PROGRAM)};
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    const std::string log = (folder_ / "output").string();
    pid_ = ::fork();
    require(pid_ >= 0, "fork failed");
    if (pid_ == 0) {
      const int file = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
      ::dup2(file, STDOUT_FILENO);
      ::dup2(file, STDERR_FILENO);
      ::setenv("XDG_CACHE_HOME", cache_folder().c_str(), 1);
      ::execv(TETHYS_PROGRAM, argv.data());
      ::_exit(127);
    }
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void kill(int signal) const { ::kill(pid_, signal); }
  bool running() {
    if (!ended_ && ::waitpid(pid_, &status_, WNOHANG) == pid_) ended_ = true;
    return !ended_;
  }
  Ended await() {
    if (!ended_) ::waitpid(pid_, &status_, 0);
    ended_ = true;
    return {WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_), read_file(folder_ / "output")};
  }

  // Where the programs of one test process keep what can be made again.
  static const Path& cache_folder() {
    static const TemporaryFolder folder;
    return folder.path();
  }

 private:
  TemporaryFolder folder_;
  pid_t pid_ = -1;
  int status_ = 0;
  bool ended_ = false;
};

inline Ended run_tethys(const std::vector<std::string>& arguments) { return Process(arguments).await(); }

}  // namespace tethys
