#include "data/index/token_stream.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <unordered_map>

#include "base/error.h"
#include "base/file.h"
#include "data/sources/npy.h"

namespace tethys {
namespace {

int bytes_of(TokenType type) { return type == TokenType::U16 ? 2 : 4; }

}  // namespace

TokenStream TokenStream::of(std::vector<uint32_t> tokens, std::vector<uint64_t> starts, std::string name,
                            std::vector<uint64_t> learnt) {
  struct Owned {
    std::vector<uint32_t> tokens;
    std::vector<uint64_t> starts, learnt;
  };
  auto owned = std::make_shared<const Owned>(Owned{std::move(tokens), std::move(starts), std::move(learnt)});
  return over(std::as_bytes(std::span(owned->tokens)), 4, owned->starts, owned, std::move(name), owned->learnt);
}

TokenStream TokenStream::over(std::span<const std::byte> tokens, int token_bytes, std::span<const uint64_t> starts,
                              std::shared_ptr<const void> owner, std::string name, std::span<const uint64_t> learnt) {
  require(token_bytes == 2 || token_bytes == 4, "tokens of {} bytes", token_bytes);
  TokenStream stream;
  stream.tokens_ = tokens.data();
  stream.token_bytes_ = token_bytes;
  stream.size_ = static_cast<int64_t>(tokens.size()) / token_bytes;
  stream.starts_ = starts;
  stream.owner_ = std::move(owner);
  stream.name_ = std::move(name);
  stream.learnt_ = learnt;
  require(learnt.empty() || learnt.size() == static_cast<size_t>(stream.size_ + 63) / 64,
          "{} words of a mask of {} tokens", learnt.size(), stream.size_);
  return stream;
}

uint32_t TokenStream::operator[](int64_t position) const {
  uint32_t token;
  copy(position, {&token, 1});
  return token;
}

void TokenStream::copy(int64_t begin, std::span<uint32_t> out) const {
  require(begin >= 0 && begin + static_cast<int64_t>(out.size()) <= size_, "tokens {} to {} of {}", begin,
          begin + static_cast<int64_t>(out.size()), size_);
  const std::byte* from = tokens_ + begin * token_bytes_;
  if (token_bytes_ == 4) {
    if (!out.empty()) std::memcpy(out.data(), from, out.size_bytes());
    return;
  }
  for (uint32_t& token : out) {
    uint16_t narrow;
    std::memcpy(&narrow, from, sizeof narrow);
    token = narrow;
    from += sizeof narrow;
  }
}

int64_t TokenStream::document_of(int64_t position) const {
  auto after = std::upper_bound(starts_.begin(), starts_.end(), static_cast<uint64_t>(position));
  require(after != starts_.begin(), "token {} is before the first document", position);
  return after - starts_.begin() - 1;
}

int64_t TokenStream::document_begin(int64_t document) const {
  return document == documents() ? size_ : static_cast<int64_t>(starts_[static_cast<size_t>(document)]);
}

TokenStream TokenStream::first(int64_t tokens) const {
  require(tokens >= 0 && tokens <= size_, "the first {} tokens of {}", tokens, size_);
  TokenStream beginning = *this;
  beginning.size_ = tokens;
  const auto end = std::lower_bound(starts_.begin(), starts_.end(), static_cast<uint64_t>(tokens));
  beginning.starts_ = starts_.first(static_cast<size_t>(end - starts_.begin()));
  return beginning;
}

int token_bytes_for(int64_t vocab_size) { return vocab_size <= 65536 ? 2 : 4; }

TokenStream open_raw_tokens(const std::string& path, int64_t vocab_size, std::optional<int32_t> end_of_text,
                            TokenType type) {
  struct Owned {
    MappedFile file;
    std::vector<uint64_t> starts;
  };
  auto owned = std::make_shared<Owned>(Owned{MappedFile(path), {}});
  std::span<const std::byte> bytes = owned->file.bytes();
  NpyTokens layout{.token_bytes = type == TokenType::Auto ? token_bytes_for(vocab_size) : bytes_of(type)};
  if (path.ends_with(".npy")) {
    layout = read_npy_header(bytes, path);
    if (type != TokenType::Auto && bytes_of(type) != layout.token_bytes) {
      user_error("{} holds tokens of {} bytes each, and data.token_type says {}; leave it at auto", path,
                 layout.token_bytes, bytes_of(type));
    }
    bytes = bytes.subspan(layout.offset);
  } else if (bytes.size() % static_cast<size_t>(layout.token_bytes) != 0) {
    user_error("{} has {} bytes: expected a multiple of {}, the bytes of a token {}", path, bytes.size(),
               layout.token_bytes,
               type == TokenType::Auto ? fmt::format("of a vocabulary of {}", vocab_size) : "(data.token_type)");
  }
  TokenStream tokens = TokenStream::over(bytes, layout.token_bytes, {}, owned, path);
  bool begins = true;
  for (int64_t i = 0; i < tokens.size(); ++i) {
    uint32_t token = tokens[i];
    if (token >= static_cast<uint64_t>(vocab_size)) {
      const int64_t id = layout.is_signed ? static_cast<int32_t>(token) : int64_t{token};
      user_error("{}: token {} is the id {}; the vocabulary has {} ids (tokens are read as {} bytes each)", path, i, id,
                 vocab_size, layout.token_bytes);
    }
    if (begins) owned->starts.push_back(static_cast<uint64_t>(i));
    begins = end_of_text && token == static_cast<uint32_t>(*end_of_text);
  }
  return TokenStream::over(bytes, layout.token_bytes, owned->starts, owned, path);
}

double unigram_entropy(const TokenStream& stream) {
  std::unordered_map<uint32_t, int64_t> counts;
  int64_t learnt = 0;
  for (int64_t i = 0; i < stream.size(); ++i) {
    if (!stream.is_learnt(i)) continue;
    ++counts[stream[i]];
    ++learnt;
  }
  std::vector<int64_t> sorted;  // so that the sum does not depend on the order in the map
  for (const auto& [token, count] : counts) sorted.push_back(count);
  std::sort(sorted.begin(), sorted.end());
  double entropy = 0;
  const auto total = static_cast<double>(learnt);
  for (int64_t count : sorted) {
    double share = static_cast<double>(count) / total;
    entropy -= share * std::log(share);
  }
  return entropy;
}

TokenStream interleaved(const std::vector<TokenStream>& streams, std::string name) {
  struct Next {
    double place;  // of the middle of the document among those of its stream
    size_t stream;
    int64_t document;
  };
  std::vector<Next> order;
  for (size_t stream = 0; stream < streams.size(); ++stream) {
    const int64_t documents = streams[stream].documents();
    for (int64_t i = 0; i < documents; ++i) {
      order.push_back({(static_cast<double>(i) + 0.5) / static_cast<double>(documents), stream, i});
    }
  }
  std::stable_sort(order.begin(), order.end(), [](const Next& a, const Next& b) { return a.place < b.place; });
  std::vector<uint32_t> tokens;
  std::vector<uint64_t> starts, learnt;
  for (const Next& next : order) {
    const TokenStream& stream = streams[next.stream];
    const int64_t begin = stream.document_begin(next.document);
    starts.push_back(tokens.size());
    tokens.resize(tokens.size() + static_cast<size_t>(stream.document_size(next.document)));
    stream.copy(begin, std::span(tokens).subspan(starts.back()));
    learnt.resize((tokens.size() + 63) / 64);
    for (size_t i = starts.back(); i < tokens.size(); ++i) {
      learnt[i / 64] |= uint64_t{stream.is_learnt(begin + static_cast<int64_t>(i - starts.back()))} << (i % 64);
    }
  }
  const bool masked = std::any_of(streams.begin(), streams.end(), [](const TokenStream& s) { return s.has_mask(); });
  if (!masked) learnt.clear();
  return TokenStream::of(std::move(tokens), std::move(starts), std::move(name), std::move(learnt));
}

}  // namespace tethys
