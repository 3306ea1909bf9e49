// Bpe: a byte-level BPE vocabulary as a plain value: what the trainer makes, tokenizer.json holds and Tokenizer runs.
#pragma once

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

struct Bpe {
  const Splitter* splitter = &ascii_classes();
  // The bytes of each token; the id is the index. All 256 single bytes are among them.
  std::vector<std::string> tokens;
  // In order of rank: the first that applies within a piece is applied first.
  std::vector<Merge> merges;
  // Their ids follow those of the tokens.
  std::vector<std::string> specials;

  int64_t vocab_size() const { return static_cast<int64_t>(tokens.size() + specials.size()); }
};

}  // namespace tethys
