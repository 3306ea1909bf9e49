// Probe: work that may end the process, such as loading a plugin, done in a child of it.
//
//   Probed probed = probe([] { return std::string("…"); }, std::chrono::seconds(60));
//   if (!probed.result) …what went wrong: probed.trouble…
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace tethys {

struct Probed {
  std::optional<std::string> result;  // what the work gave; nothing if it threw, crashed or took too long
  std::string trouble;                // then: what is known of it, in one line
  bool crashed = false;               // the work ended the process
};

// The child is a fork: the caller must have no other threads. Its standard error is not shown.
Probed probe(const std::function<std::string()>& work, std::chrono::seconds limit);

}  // namespace tethys
