#include "runtime/ledger.h"

#include <algorithm>
#include <numeric>

namespace tethys {
namespace {

// The device's own memory goes by two names: its explicit one and the default.
size_t row(pjrt::MemoryKind space) {
  return static_cast<size_t>(space == pjrt::MemoryKind::Device ? pjrt::MemoryKind::Default : space);
}

}  // namespace

std::string_view name_of(ArrayKind kind) {
  static constexpr std::string_view kNames[] = {"parameter", "optimizer", "input", "result", "residual"};
  return kNames[static_cast<size_t>(kind)];
}

void Ledger::add(pjrt::MemoryKind space, ArrayKind kind, int64_t bytes) {
  const std::lock_guard lock(mutex_);
  int64_t& live = bytes_[row(space)][static_cast<size_t>(kind)];
  live += bytes;
  int64_t& most = peaks_[row(space)][static_cast<size_t>(kind)];
  most = std::max(most, live);
  peak_ = std::max(peak_, live_locked(pjrt::MemoryKind::Default));
}

void Ledger::run(int64_t bytes) {
  const std::lock_guard lock(mutex_);
  peak_ = std::max(peak_, live_locked(pjrt::MemoryKind::Default) + bytes);
}

int64_t Ledger::live(pjrt::MemoryKind space, ArrayKind kind) const {
  const std::lock_guard lock(mutex_);
  return bytes_[row(space)][static_cast<size_t>(kind)];
}

int64_t Ledger::peak(pjrt::MemoryKind space, ArrayKind kind) const {
  const std::lock_guard lock(mutex_);
  return peaks_[row(space)][static_cast<size_t>(kind)];
}

int64_t Ledger::live_locked(pjrt::MemoryKind space) const {
  const auto& kinds = bytes_[row(space)];
  return std::accumulate(kinds.begin(), kinds.end(), int64_t{0});
}

int64_t Ledger::live(pjrt::MemoryKind space) const {
  const std::lock_guard lock(mutex_);
  return live_locked(space);
}

int64_t Ledger::peak() const {
  const std::lock_guard lock(mutex_);
  return peak_;
}

}  // namespace tethys
