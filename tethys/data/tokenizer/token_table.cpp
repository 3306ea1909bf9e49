#include "data/tokenizer/token_table.h"

#include <bit>

namespace tethys {

TokenTable::TokenTable(const std::vector<std::string>& tokens) {
  slots_.assign(std::bit_ceil(2 * tokens.size() + 1), -1);
  mask_ = slots_.size() - 1;
  for (size_t id = 0; id < tokens.size(); ++id) {
    uint64_t i = hash_piece(tokens[id]) & mask_;
    while (slots_[i] >= 0 && tokens[static_cast<size_t>(slots_[i])] != tokens[id]) i = (i + 1) & mask_;
    if (slots_[i] < 0) slots_[i] = static_cast<int32_t>(id);
  }
}

int32_t TokenTable::find(const std::vector<std::string>& tokens, std::string_view text) const {
  if (slots_.empty()) return -1;
  for (uint64_t i = hash_piece(text) & mask_; slots_[i] >= 0; i = (i + 1) & mask_) {
    if (tokens[static_cast<size_t>(slots_[i])] == text) return slots_[i];
  }
  return -1;
}

MergeTable::MergeTable(const std::vector<Merge>& merges) : slots_(std::bit_ceil(2 * merges.size() + 1)) {
  mask_ = slots_.size() - 1;
  for (size_t rank = 0; rank < merges.size(); ++rank) {
    uint64_t key = key_of(merges[rank].left, merges[rank].right);
    uint64_t i = mix(key, 1) & mask_;
    while (slots_[i].key != kFree && slots_[i].key != key) i = (i + 1) & mask_;
    slots_[i] = {key, {static_cast<int32_t>(rank), merges[rank].result}};
  }
}

}  // namespace tethys
