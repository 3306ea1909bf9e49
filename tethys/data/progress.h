// Progress: how a long piece of work tells its caller how far it is. Called from one thread at a time, at most a few
// hundred times in all, with the stage's name and the units done of those in total.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace tethys {

using Progress = std::function<void(std::string_view stage, int64_t done, int64_t total)>;

// Calls `progress`, which may be empty.
inline void report(const Progress& progress, std::string_view stage, int64_t done, int64_t total) {
  if (progress) progress(stage, done, total);
}

// Tells of the files' bytes that all threads have read together, a hundredth at a time.
class BytesRead {
 public:
  BytesRead(const std::vector<std::string>& files, std::string_view stage, const Progress& progress);
  void add(int64_t bytes);
  void finish() { tell(total_); }

 private:
  void tell(int64_t done);

  std::string stage_;
  const Progress& progress_;
  std::mutex mutex_;
  int64_t total_ = 0, done_ = 0, told_ = 0;
};

}  // namespace tethys
