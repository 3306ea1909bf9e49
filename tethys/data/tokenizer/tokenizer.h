// Tokenizer: text to ids and back, by byte-level BPE. Every string of bytes has an encoding, and decoding it gives the
// bytes again.
//
// A Tokenizer never changes and may be used by many threads. An Encoder remembers the words it has seen, which makes a
// corpus fast to encode; it belongs to one thread and must not outlive its Tokenizer.
//
//   Tokenizer tokenizer = Tokenizer::load("tokenizer.json");
//   std::vector<int32_t> ids = tokenizer.encode("Hello there");
//   tokenizer.decode(ids);   // "Hello there"
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/tokenizer/bpe.h"

namespace tethys {

class Tokenizer {
 public:
  explicit Tokenizer(Bpe bpe);

  // Reads a tokenizer.json. UserError if it cannot be read, is not valid, or needs what is not supported.
  static Tokenizer load(const std::string& path);
  // Writes one; it appears complete or not at all.
  void save(const std::string& path) const;

  // The ids of `text`; a special token spelt out in it becomes its id.
  std::vector<int32_t> encode(std::string_view text) const;
  // The bytes of `ids`; special tokens are spelt out. UserError for an id outside of the vocabulary.
  std::string decode(std::span<const int32_t> ids) const;

  int64_t vocab_size() const { return bpe_.vocab_size(); }
  // The id of a special token, if there is one spelt so.
  std::optional<int32_t> special(std::string_view text) const;
  // The id that ends a document. UserError if the tokenizer has no <|end_of_text|>.
  int32_t end_of_text() const;
  // Equal for tokenizers that encode alike; it names caches.
  const std::string& hash() const { return hash_; }

  const Bpe& bpe() const { return bpe_; }

 private:
  friend class Encoder;
  struct Ranked {
    int32_t rank;
    int32_t result;
  };
  const Ranked* find_merge(int32_t left, int32_t right) const;

  Bpe bpe_;
  std::string hash_;
  std::array<int32_t, 256> byte_ids_{};
  std::unordered_map<uint64_t, Ranked> merges_;  // by both ids
};

class Encoder {
 public:
  explicit Encoder(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  // Appends the ids of `text`, in which a special token spelt out becomes its id.
  void encode(std::string_view text, std::vector<int32_t>& out);
  // Appends the ids of `text` as nothing but text: a document cannot forge the end of itself.
  void encode_document(std::string_view text, std::vector<int32_t>& out);

 private:
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
  struct Range {
    uint32_t begin;
    uint32_t size;
  };
  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  void encode_piece(std::string_view piece, std::vector<int32_t>& out);
  void merge(std::string_view piece, std::vector<int32_t>& out);
  void push_candidate(int32_t position);

  const Tokenizer& tokenizer_;
  std::unordered_map<std::string, Range, TextHash, std::equal_to<>> seen_;
  std::vector<int32_t> seen_ids_;
  std::vector<Symbol> symbols_;        // of the piece in work
  std::vector<Candidate> candidates_;  // a heap, the lowest rank and then the leftmost first
};

}  // namespace tethys
