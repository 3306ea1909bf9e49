#include "data/tokenizer/added_tokens.h"

#include <algorithm>

#include "data/tokenizer/unicode.h"

namespace tethys {

AddedTokens::AddedTokens(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)), trie_(1) {
  for (size_t index = 0; index < tokens_.size(); ++index) {
    const std::string& text = tokens_[index].text;
    begins_[static_cast<uint8_t>(text[0])] = true;
    int32_t node = 0;
    for (char byte : text) {
      int32_t next = child(node, byte);
      if (next < 0) {
        next = static_cast<int32_t>(trie_.size());
        trie_[static_cast<size_t>(node)].children.emplace_back(byte, next);
        trie_.emplace_back();
      }
      node = next;
    }
    trie_[static_cast<size_t>(node)].token = static_cast<int32_t>(index);
  }
}

int32_t AddedTokens::child(int32_t node, char byte) const {
  for (const auto& [label, next] : trie_[static_cast<size_t>(node)].children) {
    if (label == byte) return next;
  }
  return -1;
}

AddedTokens::Match AddedTokens::find(std::string_view text, size_t from) const {
  for (size_t begin = from; begin < text.size(); ++begin) {
    if (!begins_[static_cast<uint8_t>(text[begin])]) continue;
    Match match;
    int32_t node = 0;
    for (size_t i = begin; i < text.size() && (node = child(node, text[i])) >= 0; ++i) {
      int32_t token = trie_[static_cast<size_t>(node)].token;
      if (token >= 0) match = {begin, i + 1, &tokens_[static_cast<size_t>(token)]};
    }
    if (match.token != nullptr) return match;
  }
  return {};
}

std::pair<size_t, size_t> AddedTokens::reach(std::string_view text, const Match& match, size_t done) const {
  auto [begin, end, token] = match;
  auto has = [&](size_t at, UnicodeClass bit) { return (class_of(character_at(text, at).code) & bit) != 0; };
  if (token->single_word) {
    bool touches_before = begin > 0 && has(character_before(text, begin), kWord);
    bool touches_after = end < text.size() && has(end, kWord);
    if (touches_before || touches_after) return {begin, begin};
  }
  if (token->lstrip) {
    while (begin > 0 && has(character_before(text, begin), kSpace)) begin = character_before(text, begin);
    begin = std::max(begin, done);
  }
  if (token->rstrip) {
    while (end < text.size() && has(end, kSpace)) end += character_at(text, end).size;
  }
  return {begin, end};
}

}  // namespace tethys
