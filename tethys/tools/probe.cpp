#include "tools/probe.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <sstream>

#include "base/error.h"

namespace tethys {
namespace {

struct Pipe {
  Pipe() { require(::pipe(ends.data()) == 0, "no pipe: {}", std::strerror(errno)); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  void close_end(size_t end) {
    if (ends[end] >= 0) ::close(ends[end]);
    ends[end] = -1;
  }
  std::array<int, 2> ends{-1, -1};
};

void write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

[[noreturn]] void be_the_child(const std::function<std::string()>& work, int result, int errors) {
  ::dup2(errors, STDERR_FILENO);
  int status = 0;
  try {
    write_all(result, work());
  } catch (const std::exception& error) {
    write_all(result, error.what());
    status = 1;
  }
  ::_exit(status);
}

// What both pipes bring until they are closed; false when the time is over first.
bool read_both(const Pipe& result, const Pipe& errors, std::chrono::seconds limit, std::array<std::string, 2>& texts) {
  const auto end = std::chrono::steady_clock::now() + limit;
  std::array<pollfd, 2> polled{pollfd{result.ends[0], POLLIN, 0}, pollfd{errors.ends[0], POLLIN, 0}};
  while (polled[0].fd >= 0 || polled[1].fd >= 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0 || ::poll(polled.data(), polled.size(), static_cast<int>(left.count())) <= 0) return false;
    for (size_t i = 0; i < polled.size(); ++i) {
      if (polled[i].fd < 0 || polled[i].revents == 0) continue;
      std::array<char, 4096> buffer;
      const ssize_t count = ::read(polled[i].fd, buffer.data(), buffer.size());
      if (count > 0) texts[i].append(buffer.data(), static_cast<size_t>(count));
      if (count <= 0) polled[i].fd = -1;
    }
  }
  return true;
}

// The last line that says something, or what a log's first line of an error says: "E0000 … file.cc:63] What is wrong".
std::string telling_line(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t place = line.find("] ");
    const bool is_error = line.size() > 1 && (line[0] == 'E' || line[0] == 'F') && line[1] >= '0' && line[1] <= '9';
    if (is_error && place != std::string::npos) return line.substr(place + 2);
  }
  const size_t end = text.find_last_not_of(" \n");
  if (end == std::string::npos) return "";
  const size_t begin = text.rfind('\n', end) + 1;  // npos + 1 is 0
  return text.substr(begin, end + 1 - begin);
}

}  // namespace

Probed probe(const std::function<std::string()>& work, std::chrono::seconds limit) {
  Pipe result, errors;
  const pid_t child = ::fork();
  require(child >= 0, "no process: {}", std::strerror(errno));
  if (child == 0) be_the_child(work, result.ends[1], errors.ends[1]);
  result.close_end(1);
  errors.close_end(1);
  std::array<std::string, 2> texts;
  const bool in_time = read_both(result, errors, limit, texts);
  if (!in_time) ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!in_time) return {std::nullopt, fmt::format("it did not end within {} s", limit.count())};
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {texts[0], ""};
  if (WIFEXITED(status) && WEXITSTATUS(status) == 1 && !texts[0].empty()) return {std::nullopt, telling_line(texts[0])};
  const std::string how =
      WIFSIGNALED(status) ? fmt::format("signal {}", WTERMSIG(status)) : fmt::format("exit {}", WEXITSTATUS(status));
  return {std::nullopt, fmt::format("it ended the process by {}: {}", how, telling_line(texts[1])), true};
}

}  // namespace tethys
