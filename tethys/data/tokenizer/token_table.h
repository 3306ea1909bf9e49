// Hash tables of a vocabulary: from bytes to the token, and from two tokens to what they merge to. Open addressing in
// one flat array each: they are what encoding waits for.
//
//   TokenTable ids(bpe.tokens);
//   ids.find(bpe.tokens, "the");   // the id, or -1; `tokens` is not kept, so that both can be moved
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "data/tokenizer/bpe.h"

namespace tethys {

inline uint64_t mix(uint64_t a, uint64_t b) {
  auto product = static_cast<unsigned __int128>(a ^ 0x9e3779b97f4a7c15ULL) * (b ^ 0xd1b54a32d192ed03ULL);
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// Of short texts, which pieces are: eight bytes at a time.
inline uint64_t hash_piece(std::string_view text) {
  uint64_t hash = text.size();
  const char* data = text.data();
  size_t left = text.size();
  for (; left > 8; data += 8, left -= 8) {
    uint64_t word;
    std::memcpy(&word, data, 8);
    hash = mix(hash, word);
  }
  uint64_t word = 0;
  std::memcpy(&word, data, left);
  return mix(hash, word);
}

class TokenTable {
 public:
  TokenTable() = default;
  // Of texts that are there twice, the first counts.
  explicit TokenTable(const std::vector<std::string>& tokens);
  int32_t find(const std::vector<std::string>& tokens, std::string_view text) const;

 private:
  uint64_t mask_ = 0;
  std::vector<int32_t> slots_;  // -1: free
};

class MergeTable {
 public:
  struct Ranked {
    int32_t rank;
    int32_t result;
  };

  MergeTable() = default;
  // Of pairs that are there twice, the last counts, as in Hugging Face's table.
  explicit MergeTable(const std::vector<Merge>& merges);

  const Ranked* find(int32_t left, int32_t right) const {
    uint64_t key = key_of(left, right);
    for (uint64_t i = mix(key, 1) & mask_;; i = (i + 1) & mask_) {
      if (slots_[i].key == key) return &slots_[i].merge;
      if (slots_[i].key == kFree) return nullptr;
    }
  }

 private:
  struct Slot {
    uint64_t key = kFree;
    Ranked merge{};
  };
  static constexpr uint64_t kFree = UINT64_MAX;  // no pair: ids are not negative
  static uint64_t key_of(int32_t left, int32_t right) {
    return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
  }

  uint64_t mask_ = 0;
  std::vector<Slot> slots_ = std::vector<Slot>(1);
};

}  // namespace tethys
