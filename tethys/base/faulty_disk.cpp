#include "base/faulty_disk.h"

#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <csignal>
#include <mutex>

#include "base/error.h"
#include "base/temporary_name.h"

namespace tethys {
namespace {

// A process that dies here leaves what a killed one leaves: nothing is closed, flushed or removed.
[[noreturn]] void die() {
  ::kill(::getpid(), SIGKILL);
  while (true) ::pause();
}

bool needs_space(disk::Operation operation) {
  return operation == disk::Operation::Create || operation == disk::Operation::Write ||
         operation == disk::Operation::MakeFolder;
}

}  // namespace

struct FaultyDisk::State {
  std::mutex mutex;
  Plan plan;
  std::vector<std::string> stages;
  bool dying = false;  // in the middle of a write
};

FaultyDisk::State* FaultyDisk::state_ = nullptr;

FaultyDisk::FaultyDisk(Plan plan) {
  require(state_ == nullptr, "two faulty disks at once");
  state_ = new State;
  state_->plan = std::move(plan);
  disk::set_hook(hook);
}

FaultyDisk::~FaultyDisk() {
  disk::set_hook(nullptr);
  delete std::exchange(state_, nullptr);
}

std::vector<std::string> FaultyDisk::stages() const {
  const std::lock_guard lock(state_->mutex);
  return state_->stages;
}

std::string FaultyDisk::stage_of(disk::Operation operation, const Path& path) {
  std::string file = path.filename().string();
  if (const auto target = target_of_temporary(file)) file = *target;
  std::string name;
  for (const char c : file) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) {
      name += c;
    } else if (name.empty() || name.back() != 'N') {
      name += 'N';
    }
  }
  return std::string(disk::name_of(operation)) + " " + name;
}

disk::Fault FaultyDisk::hook(disk::Operation operation, const Path& path, size_t bytes) {
  State& state = *state_;
  const std::lock_guard lock(state.mutex);
  if (state.dying) die();
  if (state.plan.counts && !state.plan.counts(path)) return {};
  const auto number = static_cast<int64_t>(state.stages.size());
  state.stages.push_back(stage_of(operation, path));
  if (state.plan.seen) state.plan.seen(state.stages.back());
  const bool write = operation == disk::Operation::Write;
  const bool here = number == state.plan.at;
  switch (state.plan.fault) {
    case Fault::None: return {};
    case Fault::Full:
      if (number < state.plan.at || !needs_space(operation)) return {};
      if (here && write) return {.at_most = bytes / 2};
      return {.error = ENOSPC};
    case Fault::Broken: return {.error = here ? EIO : 0};
    case Fault::Short:
      if (!here || !write) return {};
      return {.at_most = (bytes + 1) / 2};
    case Fault::Kill:
      if (!here) return {};
      if (!write) die();
      state.dying = true;  // at the next operation, which is the rest of this write
      return {.at_most = bytes / 2};
  }
  return {};
}

}  // namespace tethys
