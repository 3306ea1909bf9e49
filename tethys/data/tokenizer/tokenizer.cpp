#include "data/tokenizer/tokenizer.h"

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "data/tokenizer/tokenizer_json.h"

namespace tethys {
namespace {

// Longer pieces are rarely met twice, and past so many words new ones are rare.
constexpr size_t kLongestSeen = 64;
constexpr size_t kMostSeen = 1 << 18;

uint64_t pair_key(int32_t left, int32_t right) {
  return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
}

}  // namespace

Tokenizer::Tokenizer(Bpe bpe) : bpe_(std::move(bpe)), hash_(hash_hex(write_tokenizer_json(bpe_))) {
  for (size_t id = 0; id < bpe_.tokens.size(); ++id) {
    const std::string& token = bpe_.tokens[id];
    if (token.size() == 1) byte_ids_[static_cast<uint8_t>(token[0])] = static_cast<int32_t>(id);
  }
  merges_.reserve(bpe_.merges.size());
  for (size_t rank = 0; rank < bpe_.merges.size(); ++rank) {
    const Merge& merge = bpe_.merges[rank];
    merges_.insert_or_assign(pair_key(merge.left, merge.right), Ranked{static_cast<int32_t>(rank), merge.result});
  }
}

Tokenizer Tokenizer::load(const std::string& path) { return Tokenizer(parse_tokenizer_json(read_file(path), path)); }

void Tokenizer::save(const std::string& path) const { write_file(path, write_tokenizer_json(bpe_)); }

std::vector<int32_t> Tokenizer::encode(std::string_view text) const {
  std::vector<int32_t> ids;
  Encoder(*this).encode(text, ids);
  return ids;
}

std::string Tokenizer::decode(std::span<const int32_t> ids) const {
  std::string text;
  for (int32_t id : ids) {
    if (id < 0 || id >= vocab_size()) {
      user_error("cannot decode the id {}: the vocabulary has {} ids", id, vocab_size());
    }
    auto index = static_cast<size_t>(id);
    text += index < bpe_.tokens.size() ? bpe_.tokens[index] : bpe_.specials[index - bpe_.tokens.size()];
  }
  return text;
}

std::optional<int32_t> Tokenizer::special(std::string_view text) const {
  auto found = std::find(bpe_.specials.begin(), bpe_.specials.end(), text);
  if (found == bpe_.specials.end()) return std::nullopt;
  return static_cast<int32_t>(bpe_.tokens.size()) + static_cast<int32_t>(found - bpe_.specials.begin());
}

int32_t Tokenizer::end_of_text() const {
  std::optional<int32_t> id = special(kEndOfText);
  if (!id) {
    user_error("the tokenizer has no special token {}, which ends each document; add it to added_tokens", kEndOfText);
  }
  return *id;
}

const Tokenizer::Ranked* Tokenizer::find_merge(int32_t left, int32_t right) const {
  auto found = merges_.find(pair_key(left, right));
  return found == merges_.end() ? nullptr : &found->second;
}

void Encoder::encode(std::string_view text, std::vector<int32_t>& out) {
  // The leftmost special token, and of those that begin there the longest, as Hugging Face's matcher has it.
  while (!text.empty()) {
    size_t begin = std::string_view::npos;
    std::string_view match;
    for (const std::string& special : tokenizer_.bpe_.specials) {
      size_t at = text.find(special);
      if (at < begin || (at == begin && at != std::string_view::npos && special.size() > match.size())) {
        begin = at;
        match = special;
      }
    }
    encode_document(text.substr(0, begin), out);
    if (begin == std::string_view::npos) return;
    out.push_back(*tokenizer_.special(match));
    text.remove_prefix(begin + match.size());
  }
}

void Encoder::encode_document(std::string_view text, std::vector<int32_t>& out) {
  tokenizer_.bpe_.splitter->for_each(text, [&](std::string_view piece) { encode_piece(piece, out); });
}

void Encoder::encode_piece(std::string_view piece, std::vector<int32_t>& out) {
  if (piece.size() > kLongestSeen) return merge(piece, out);
  auto found = seen_.find(piece);
  if (found != seen_.end()) {
    auto begin = seen_ids_.begin() + found->second.begin;
    out.insert(out.end(), begin, begin + found->second.size);
    return;
  }
  size_t before = out.size();
  merge(piece, out);
  if (seen_.size() >= kMostSeen) return;
  seen_.emplace(piece, Range{static_cast<uint32_t>(seen_ids_.size()), static_cast<uint32_t>(out.size() - before)});
  seen_ids_.insert(seen_ids_.end(), out.begin() + static_cast<std::ptrdiff_t>(before), out.end());
}

void Encoder::push_candidate(int32_t position) {
  const Symbol& left = symbols_[static_cast<size_t>(position)];
  if (left.next < 0) return;
  int32_t right_id = symbols_[static_cast<size_t>(left.next)].id;
  const Tokenizer::Ranked* merge = tokenizer_.find_merge(left.id, right_id);
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
    left.id = tokenizer_.find_merge(left.id, right.id)->result;
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
