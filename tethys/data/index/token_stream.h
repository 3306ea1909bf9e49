// TokenStream: the tokens of many documents, one after the other, in memory or mapped from a file; tokens of 2 or 4
// bytes. A counted handle on what never changes: freely copied, read by many threads.
//
//   TokenStream stream = TokenStream::of({5, 6, 1, 7, 1}, {0, 3}, "the example");   // two documents
//   stream[3];   // 7
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tethys {

class TokenStream {
 public:
  // No tokens.
  TokenStream() = default;

  // `starts` are the positions of the documents' first tokens, ascending; `name` says in errors what the text is.
  // `learnt` has a bit per token, the lowest first, 64 to a number: whether it may be a label. Empty: all may.
  static TokenStream of(std::vector<uint32_t> tokens, std::vector<uint64_t> starts, std::string name,
                        std::vector<uint64_t> learnt = {});

  // Over memory that `owner` keeps: tokens of `token_bytes` (2 or 4) each.
  static TokenStream over(std::span<const std::byte> tokens, int token_bytes, std::span<const uint64_t> starts,
                          std::shared_ptr<const void> owner, std::string name, std::span<const uint64_t> learnt = {});

  int64_t size() const { return size_; }
  int64_t documents() const { return static_cast<int64_t>(starts_.size()); }
  const std::string& name() const { return name_; }

  // Whether some tokens are only read, as what a user says in a chat.
  bool has_mask() const { return !learnt_.empty(); }
  bool is_learnt(int64_t position) const {
    return learnt_.empty() || (learnt_[static_cast<size_t>(position / 64)] >> (position % 64) & 1) != 0;
  }

  uint32_t operator[](int64_t position) const;
  void copy(int64_t begin, std::span<uint32_t> out) const;

  std::span<const uint64_t> starts() const { return starts_; }
  // Where a document begins; the end of all for the number of documents.
  int64_t document_begin(int64_t document) const;
  int64_t document_size(int64_t document) const { return document_begin(document + 1) - document_begin(document); }
  // The same memory up to a token, which need not end a document.
  TokenStream first(int64_t tokens) const;
  // The index of the document that holds the token at `position`.
  int64_t document_of(int64_t position) const;

 private:
  const std::byte* tokens_ = nullptr;
  int token_bytes_ = 4;
  int64_t size_ = 0;
  std::span<const uint64_t> starts_;
  std::span<const uint64_t> learnt_;
  std::shared_ptr<const void> owner_;
  std::string name_;
};

// The bytes that a token takes in files: 2 if every id of the vocabulary fits, else 4.
int token_bytes_for(int64_t vocab_size);

// How wide the tokens of a file are. Auto: as a .npy says, or else token_bytes_for(vocab_size).
enum class TokenType : uint8_t { Auto, U16, U32 };

// A file of tokens, as many training scripts write it: raw numbers in the machine's byte order, or NumPy's .npy if its
// name ends so. With `end_of_text` a document ends after each such token; without, the file is one document. UserError
// if the file cannot be read, is a .npy of another kind, its size is no multiple of a token's, or an id is outside of
// the vocabulary.
TokenStream open_raw_tokens(const std::string& path, int64_t vocab_size, std::optional<int32_t> end_of_text,
                            TokenType type = TokenType::Auto);

// The entropy of single tokens that are learnt, in nats: the loss of a model that knows how frequent each is in this
// very text, and nothing else. 0 where there are none.
double unigram_entropy(const TokenStream& stream);

// The documents of several streams as one in memory, spread so that any beginning holds about the same share of each.
TokenStream interleaved(const std::vector<TokenStream>& streams, std::string name);

}  // namespace tethys
