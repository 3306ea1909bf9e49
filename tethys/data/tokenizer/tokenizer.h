// Tokenizer: text to ids and back, by byte-level BPE. Every string of bytes has an encoding, and decoding it gives the
// bytes again (put into NFC first, if the tokenizer does that).
//
// A Tokenizer never changes and may be used by many threads. Encoder (encoder.h) is the faster way for many texts.
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
#include <vector>

#include "data/tokenizer/added_tokens.h"
#include "data/tokenizer/bpe.h"
#include "data/tokenizer/token_table.h"
#include "data/tokenizer/tokenizer_config.h"

namespace tethys {

// Whether an encoded text gets what the tokenizer's template puts around it: the begin of text of Llama 3.
enum class Template : uint8_t { Apply, Leave };
// Whether decoding spells special tokens out.
enum class Specials : uint8_t { Keep, Skip };

class Tokenizer {
 public:
  explicit Tokenizer(Bpe bpe, TokenizerConfig config = {});

  // Reads a tokenizer.json, and what belongs to it if it lies beside it (tokenizer_config.h). UserError if a file
  // cannot be read, is not valid, or needs what is not supported.
  static Tokenizer load(const std::string& path);
  // Writes a tokenizer.json; it appears complete or not at all.
  void save(const std::string& path) const;

  // The ids of `text`; an added token spelt out in it becomes its id.
  std::vector<int32_t> encode(std::string_view text, Template enclose = Template::Apply) const;
  // The bytes of `ids`. UserError for an id outside of the vocabulary. For text as it comes: TextStream
  // (text_stream.h).
  std::string decode(std::span<const int32_t> ids, Specials specials = Specials::Keep) const;
  // The bytes of one.
  const std::string& token(int32_t id) const;
  bool is_special(int32_t id) const;

  int64_t vocab_size() const { return bpe_.vocab_size(); }
  // The id of an added token, if there is one spelt so.
  std::optional<int32_t> special(std::string_view text) const;
  // The id that ends a document: <|end_of_text|>, <|endoftext|> or the configured end of sequence. UserError if the
  // tokenizer has none of them.
  int32_t end_of_text() const;
  // The ids that end what a model says: those that its configuration of generation names, or else the end of a document
  // and the configured end of sequence.
  std::vector<int32_t> stops() const;
  // The Jinja template of the model's chats; empty if there is none.
  const std::string& chat_template() const { return config_.chat_template; }
  // Equal for tokenizers that encode and end documents alike; it names caches.
  const std::string& hash() const { return hash_; }

  const Bpe& bpe() const { return bpe_; }

 private:
  friend class Encoder;
  const AddedToken* added(int32_t id) const;

  Bpe bpe_;
  TokenizerConfig config_;
  std::string hash_;
  std::array<int32_t, 256> byte_ids_{};
  MergeTable merges_;
  TokenTable whole_;        // with ignore_merges: pieces that are tokens
  AddedTokens raw_;         // found in the text as it is
  AddedTokens normalized_;  // found in the normalised text
};

}  // namespace tethys
