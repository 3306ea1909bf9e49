// AddedTokens: finds the added tokens in a text, as Hugging Face's matcher does: the leftmost, and of those that begin
// there the longest. A plain value.
//
//   added.split("a<|eot|>b", [](std::string_view text) { … }, [](int32_t id) { … });   // "a", 128009, "b"
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/tokenizer/bpe.h"

namespace tethys {

class AddedTokens {
 public:
  explicit AddedTokens(std::vector<AddedToken> tokens);

  template <typename OnText, typename OnToken>
  void split(std::string_view text, OnText&& on_text, OnToken&& on_token) const {
    size_t done = 0;
    for (size_t from = 0; from < text.size();) {
      Match match = find(text, from);
      if (match.token == nullptr) break;
      from = match.end;
      auto [begin, end] = reach(text, match, done);
      if (begin == end) continue;  // not a word by itself
      if (done < begin) on_text(text.substr(done, begin - done));
      on_token(match.token->id);
      done = end;
    }
    if (done < text.size()) on_text(text.substr(done));
  }

 private:
  struct Match {
    size_t begin = 0;
    size_t end = 0;
    const AddedToken* token = nullptr;
  };
  struct Node {
    int32_t token = -1;
    std::vector<std::pair<char, int32_t>> children;
  };

  int32_t child(int32_t node, char byte) const;
  Match find(std::string_view text, size_t from) const;
  // What a match takes with the white space around it; nothing if it must be a word by itself and is not.
  std::pair<size_t, size_t> reach(std::string_view text, const Match& match, size_t done) const;

  std::vector<AddedToken> tokens_;
  std::vector<Node> trie_;
  std::vector<bool> begins_ = std::vector<bool>(256);
};

}  // namespace tethys
