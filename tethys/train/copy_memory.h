// CopyMemory: host memory for copies of a state, kept from one save to the next. Fresh memory has to be cleared and
// mapped by the system, which takes longer than the copy itself. Any thread; a block may outlive it.
//
//   CopyMemory memory;
//   CopyMemory::Block block = memory.take(size);   // goes back at the end of its life
//   block.bytes();
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>

namespace tethys {

class CopyMemory {
  struct Free;

 public:
  class Block {
   public:
    Block() = default;
    Block(Block&&) noexcept = default;
    Block& operator=(Block&&) noexcept = default;
    ~Block();
    std::span<std::byte> bytes() const { return {bytes_.get(), size_}; }

   private:
    friend class CopyMemory;
    std::shared_ptr<Free> home_;
    std::unique_ptr<std::byte[]> bytes_;
    size_t size_ = 0;
  };

  // What it holds is not said.
  Block take(size_t size);

 private:
  struct Free {
    std::mutex mutex;
    std::multimap<size_t, std::unique_ptr<std::byte[]>> blocks;
  };
  std::shared_ptr<Free> free_ = std::make_shared<Free>();
};

inline CopyMemory::Block::~Block() {
  if (bytes_ == nullptr) return;
  const std::lock_guard lock(home_->mutex);
  home_->blocks.emplace(size_, std::move(bytes_));
}

inline CopyMemory::Block CopyMemory::take(size_t size) {
  Block block;
  block.home_ = free_;
  block.size_ = size;
  {
    const std::lock_guard lock(free_->mutex);
    if (const auto found = free_->blocks.find(size); found != free_->blocks.end()) {
      block.bytes_ = std::move(found->second);
      free_->blocks.erase(found);
      return block;
    }
  }
  block.bytes_ = std::make_unique_for_overwrite<std::byte[]>(size);
  return block;
}

}  // namespace tethys
