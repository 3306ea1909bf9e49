// Bpe: a byte-level BPE vocabulary as a plain value: what the trainer makes, tokenizer.json holds and Tokenizer runs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "data/tokenizer/splitter.h"

namespace tethys {

inline constexpr const char* kEndOfText = "<|end_of_text|>";

struct Merge {
  int32_t left = 0;
  int32_t right = 0;
  int32_t result = 0;
  bool operator==(const Merge&) const = default;
};

// A token that is found in the text before anything else is done to it.
struct AddedToken {
  int32_t id = 0;
  std::string text;
  bool special = true;       // may be left out when decoding
  bool single_word = false;  // only where no character of a word touches it
  bool lstrip = false;       // takes the white space before it
  bool rstrip = false;       // and after it
  bool normalized = false;   // is looked for in the normalised text
  bool operator==(const AddedToken&) const = default;
};

struct Bpe {
  bool nfc = false;               // text is put into NFC first
  bool add_prefix_space = false;  // text that does not begin with a space gets one
  // Each cuts the pieces of the one before.
  std::vector<const Splitter*> splitters = {&ascii_classes()};
  bool ignore_merges = false;  // a piece that is a token is that token, whatever the merges would make of it
  // The bytes of each token; the id is the index. All 256 single bytes are among them.
  std::vector<std::string> tokens;
  // In order of rank: the first that applies within a piece is applied first.
  std::vector<Merge> merges;
  // By id: those within `tokens` are spelt alike there, the others follow without a gap.
  std::vector<AddedToken> added;
  // What encloses an encoded text: Llama 3 begins each with <|begin_of_text|>.
  std::vector<int32_t> prefix;
  std::vector<int32_t> suffix;

  int64_t vocab_size() const {
    auto size = static_cast<int64_t>(tokens.size());
    return added.empty() ? size : std::max<int64_t>(size, added.back().id + 1);
  }
};

}  // namespace tethys
