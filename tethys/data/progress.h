// Progress: how a long piece of work tells its caller how far it is. Called from one thread at a time, at most a few
// hundred times in all, with the stage's name and the units done of those in total.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace tethys {

using Progress = std::function<void(std::string_view stage, int64_t done, int64_t total)>;

// Calls `progress`, which may be empty.
inline void report(const Progress& progress, std::string_view stage, int64_t done, int64_t total) {
  if (progress) progress(stage, done, total);
}

}  // namespace tethys
