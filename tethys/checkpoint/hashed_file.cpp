#include "checkpoint/hashed_file.h"

#include <future>

namespace tethys {
namespace {

constexpr size_t kSmall = size_t{1} << 18;
// What starting a thread is worth.
constexpr size_t kLarge = size_t{1} << 22;

}  // namespace

WrittenFile hash_file(const MappedFile& file) {
  WrittenFile found;
  Hasher hasher;
  file.for_each_piece([&](std::span<const std::byte> bytes) {
    hasher.update(bytes);
    found.size += bytes.size();
  });
  found.hash = hasher.hex();
  return found;
}

void HashedFile::write(std::span<const std::byte> bytes) {
  size_ += bytes.size();
  if (bytes.size() < kSmall) {
    small_.insert(small_.end(), bytes.begin(), bytes.end());
    if (small_.size() >= kSmall) flush();
    return;
  }
  flush();
  if (bytes.size() < kLarge) {
    hasher_.update(bytes);
    file_.write(bytes);
    return;
  }
  std::future<void> hashed = std::async(std::launch::async, [&] { hasher_.update(bytes); });
  file_.write(bytes);  // should it throw, the future waits
  hashed.get();
}

void HashedFile::flush() {
  hasher_.update(small_);
  file_.write(small_);
  small_.clear();
}

WrittenFile HashedFile::commit() {
  flush();
  file_.commit();
  return {size_, hasher_.hex()};
}

}  // namespace tethys
