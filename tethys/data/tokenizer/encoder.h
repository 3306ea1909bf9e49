// Encoder: encodes many texts with one Tokenizer. It remembers the pieces it has met lately, which makes a corpus fast
// to encode. It belongs to one thread and must not outlive its Tokenizer.
//
//   Encoder encoder(tokenizer);
//   for (const std::string& text : texts) encoder.encode_document(text, ids);
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/tokenizer/tokenizer.h"

namespace tethys {

class Encoder {
 public:
  // It remembers as many pieces as it has slots, a power of two, of 64 bytes.
  explicit Encoder(const Tokenizer& tokenizer, size_t slots = 1 << 15);

  // Appends the ids of `text`, in which an added token spelt out becomes its id.
  void encode(std::string_view text, std::vector<int32_t>& out, Template enclose = Template::Leave);
  // Appends the ids of `text` as nothing but text: a document cannot forge the end of itself.
  void encode_document(std::string_view text, std::vector<int32_t>& out);

 private:
  // A piece that was met, and its ids: one cache line. A piece takes the place of another with the same slot.
  struct alignas(64) Seen {
    uint8_t size = 0;
    uint8_t count = 0;
    std::array<char, 30> text = {};
    std::array<int32_t, 8> ids = {};
  };
  struct Symbol {
    int32_t id;  // -1 once merged into the one before
    int32_t previous;
    int32_t next;
  };
  struct Candidate {
    int32_t rank;
    int32_t position;
    int32_t left;
    int32_t right;
  };

  void encode_normalized(std::string_view text, std::vector<int32_t>& out);
  void split(std::string_view text, size_t level, std::vector<int32_t>& out);
  void encode_piece(std::string_view piece, std::vector<int32_t>& out);
  void merge(std::string_view piece, std::vector<int32_t>& out);
  void push_candidate(int32_t position);

  const Tokenizer& tokenizer_;
  std::vector<Seen> seen_;
  std::string normalized_;
  std::string prefixed_;
  std::vector<Symbol> symbols_;        // of the piece in work
  std::vector<Candidate> candidates_;  // a heap, the lowest rank and then the leftmost first
};

}  // namespace tethys
