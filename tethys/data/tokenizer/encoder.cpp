#include "data/tokenizer/encoder.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/error.h"
#include "data/tokenizer/nfc.h"

namespace tethys {

Encoder::Encoder(const Tokenizer& tokenizer, size_t slots) : tokenizer_(tokenizer), seen_(slots) {
  require(std::has_single_bit(slots), "an Encoder of {} slots", slots);
}

void Encoder::encode(std::string_view text, std::vector<int32_t>& out, Template enclose) {
  const auto enclose_with = [&](const std::vector<int32_t>& ids) {
    if (enclose == Template::Apply) out.insert(out.end(), ids.begin(), ids.end());
  };
  enclose_with(tokenizer_.bpe_.prefix);
  auto on_token = [&](int32_t id) { out.push_back(id); };
  auto on_text = [&](std::string_view part) {
    std::string_view normal = tokenizer_.bpe_.nfc ? nfc(part, normalized_) : part;
    tokenizer_.normalized_.split(
        normal, [&](std::string_view words) { encode_normalized(words, out); }, on_token);
  };
  tokenizer_.raw_.split(text, on_text, on_token);
  enclose_with(tokenizer_.bpe_.suffix);
}

void Encoder::encode_document(std::string_view text, std::vector<int32_t>& out) {
  encode_normalized(tokenizer_.bpe_.nfc ? nfc(text, normalized_) : text, out);
}

void Encoder::encode_normalized(std::string_view text, std::vector<int32_t>& out) {
  if (tokenizer_.bpe_.add_prefix_space && !text.empty() && text[0] != ' ') {
    prefixed_.assign(1, ' ').append(text);
    text = prefixed_;
  }
  split(text, 0, out);
}

void Encoder::split(std::string_view text, size_t level, std::vector<int32_t>& out) {
  const std::vector<const Splitter*>& splitters = tokenizer_.bpe_.splitters;
  if (level == splitters.size()) {
    if (!text.empty()) encode_piece(text, out);
  } else if (level + 1 == splitters.size()) {
    splitters[level]->for_each(text, [&](std::string_view piece) { encode_piece(piece, out); });
  } else {
    splitters[level]->for_each(text, [&](std::string_view piece) { split(piece, level + 1, out); });
  }
}

void Encoder::encode_piece(std::string_view piece, std::vector<int32_t>& out) {
  Seen* seen = piece.size() <= Seen{}.text.size() ? &seen_[hash_piece(piece) & (seen_.size() - 1)] : nullptr;
  if (seen != nullptr && seen->size == piece.size() &&
      std::memcmp(seen->text.data(), piece.data(), piece.size()) == 0) {
    out.insert(out.end(), seen->ids.begin(), seen->ids.begin() + seen->count);
    return;
  }
  size_t before = out.size();
  int32_t whole = tokenizer_.bpe_.ignore_merges ? tokenizer_.whole_.find(tokenizer_.bpe_.tokens, piece) : -1;
  if (whole >= 0) {
    out.push_back(whole);
  } else {
    merge(piece, out);
  }
  size_t count = out.size() - before;
  if (seen == nullptr || count > seen->ids.size()) return;
  seen->size = static_cast<uint8_t>(piece.size());
  seen->count = static_cast<uint8_t>(count);
  std::copy(piece.begin(), piece.end(), seen->text.begin());
  std::copy(out.begin() + static_cast<std::ptrdiff_t>(before), out.end(), seen->ids.begin());
}

void Encoder::push_candidate(int32_t position) {
  const Symbol& left = symbols_[static_cast<size_t>(position)];
  if (left.next < 0) return;
  int32_t right_id = symbols_[static_cast<size_t>(left.next)].id;
  const MergeTable::Ranked* merge = tokenizer_.merges_.find(left.id, right_id);
  if (merge == nullptr) return;
  candidates_.push_back({merge->rank, position, left.id, right_id});
  std::push_heap(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
    return a.rank != b.rank ? a.rank > b.rank : a.position > b.position;
  });
}

// Merges pairs, lowest rank first and leftmost first, in a linked list of symbols. A candidate whose symbols have
// changed since it was pushed is passed over: n log n, also for a piece of a million letters.
void Encoder::merge(std::string_view piece, std::vector<int32_t>& out) {
  auto size = static_cast<int32_t>(piece.size());
  symbols_.clear();
  candidates_.clear();
  for (int32_t i = 0; i < size; ++i) {
    int32_t id = tokenizer_.byte_ids_[static_cast<uint8_t>(piece[static_cast<size_t>(i)])];
    symbols_.push_back({id, i - 1, i + 1 < size ? i + 1 : -1});
  }
  for (int32_t i = 0; i + 1 < size; ++i) push_candidate(i);
  while (!candidates_.empty()) {
    std::pop_heap(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
      return a.rank != b.rank ? a.rank > b.rank : a.position > b.position;
    });
    Candidate candidate = candidates_.back();
    candidates_.pop_back();
    Symbol& left = symbols_[static_cast<size_t>(candidate.position)];
    if (left.id != candidate.left || left.next < 0) continue;
    Symbol& right = symbols_[static_cast<size_t>(left.next)];
    if (right.id != candidate.right) continue;
    left.id = tokenizer_.merges_.find(left.id, right.id)->result;
    left.next = right.next;
    right.id = -1;
    if (left.next >= 0) {
      symbols_[static_cast<size_t>(left.next)].previous = candidate.position;
      push_candidate(candidate.position);
    }
    if (left.previous >= 0) push_candidate(left.previous);
  }
  for (const Symbol& symbol : symbols_) {
    if (symbol.id >= 0) out.push_back(symbol.id);
  }
}

}  // namespace tethys
