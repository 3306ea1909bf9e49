#include "data/tokenizer/tokenizer.h"

#include <algorithm>
#include <cstddef>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "data/tokenizer/encoder.h"
#include "data/tokenizer/nfc.h"
#include "data/tokenizer/tokenizer_config.h"
#include "data/tokenizer/tokenizer_json.h"

namespace tethys {
namespace {

// What documents end with, where the tokenizer has it: an instruction model's configured end is that of a turn.
constexpr const char* kEndsOfText[] = {kEndOfText, "<|endoftext|>"};

std::vector<AddedToken> chosen(const Bpe& bpe, bool normalized) {
  std::vector<AddedToken> tokens;
  std::string storage;
  for (AddedToken token : bpe.added) {
    if (token.normalized != normalized) continue;
    if (normalized && bpe.nfc) token.text = std::string(nfc(token.text, storage));
    tokens.push_back(std::move(token));
  }
  return tokens;
}

// Of everything that decides how text is encoded, each part with its length, so that no two spell the same bytes.
std::string hash_of(const Bpe& bpe, const std::string& end_of_sequence) {
  Hasher hasher;
  auto number = [&](int64_t value) { hasher.update(std::as_bytes(std::span(&value, 1))); };
  auto text = [&](std::string_view value) {
    number(static_cast<int64_t>(value.size()));
    hasher.update(std::as_bytes(std::span(value)));
  };
  number(bpe.nfc + 2 * bpe.add_prefix_space + 4 * bpe.ignore_merges);
  for (const Splitter* splitter : bpe.splitters) text(splitter->pattern);
  number(static_cast<int64_t>(bpe.tokens.size()));
  for (const std::string& token : bpe.tokens) text(token);
  number(static_cast<int64_t>(bpe.merges.size()));
  hasher.update(std::as_bytes(std::span(bpe.merges)));
  for (const AddedToken& token : bpe.added) {
    number(token.id);
    text(token.text);
    number(token.special + 2 * token.single_word + 4 * token.lstrip + 8 * token.rstrip + 16 * token.normalized);
  }
  for (const std::vector<int32_t>* ids : {&bpe.prefix, &bpe.suffix}) {
    number(static_cast<int64_t>(ids->size()));
    hasher.update(std::as_bytes(std::span(*ids)));
  }
  text(end_of_sequence);
  return hasher.hex();
}

}  // namespace

Tokenizer::Tokenizer(Bpe bpe, TokenizerConfig config)
    : bpe_(std::move(bpe)),
      config_(std::move(config)),
      hash_(hash_of(bpe_, config_.end_of_sequence)),
      merges_(bpe_.merges),
      whole_(bpe_.ignore_merges ? TokenTable(bpe_.tokens) : TokenTable()),
      raw_(chosen(bpe_, false)),
      normalized_(chosen(bpe_, true)) {
  for (size_t id = 0; id < bpe_.tokens.size(); ++id) {
    const std::string& token = bpe_.tokens[id];
    if (token.size() == 1) byte_ids_[static_cast<uint8_t>(token[0])] = static_cast<int32_t>(id);
  }
}

Tokenizer Tokenizer::load(const std::string& path) {
  Bpe bpe = parse_tokenizer_json(read_file(path, kLargestTokenizerFile), path);
  const Path folder = Path(path).parent_path();
  TokenizerConfig config = read_tokenizer_config(folder);
  add_tokens(bpe, config.added, (folder / "tokenizer_config.json").string() + ": added_tokens_decoder");
  return Tokenizer(std::move(bpe), std::move(config));
}

void Tokenizer::save(const std::string& path) const { write_file(path, write_tokenizer_json(bpe_)); }

std::vector<int32_t> Tokenizer::encode(std::string_view text, Template enclose) const {
  std::vector<int32_t> ids;
  Encoder(*this, /*slots=*/256).encode(text, ids, enclose);
  return ids;
}

std::string Tokenizer::decode(std::span<const int32_t> ids, Specials specials) const {
  std::string text;
  for (int32_t id : ids) {
    const std::string& bytes = token(id);
    if (specials == Specials::Keep || !is_special(id)) text += bytes;
  }
  return text;
}

const AddedToken* Tokenizer::added(int32_t id) const {
  auto found = std::lower_bound(bpe_.added.begin(), bpe_.added.end(), id,
                                [](const AddedToken& token, int32_t value) { return token.id < value; });
  return found != bpe_.added.end() && found->id == id ? &*found : nullptr;
}

const std::string& Tokenizer::token(int32_t id) const {
  if (id < 0 || id >= vocab_size()) {
    user_error("cannot decode the id {}: the vocabulary has {} ids", id, vocab_size());
  }
  auto index = static_cast<size_t>(id);
  return index < bpe_.tokens.size() ? bpe_.tokens[index] : added(id)->text;
}

bool Tokenizer::is_special(int32_t id) const {
  const AddedToken* token = added(id);
  return token != nullptr && token->special;
}

std::optional<int32_t> Tokenizer::special(std::string_view text) const {
  for (const AddedToken& token : bpe_.added) {
    if (token.text == text) return token.id;
  }
  return std::nullopt;
}

int32_t Tokenizer::end_of_text() const {
  for (const char* name : kEndsOfText) {
    if (std::optional<int32_t> id = special(name)) return *id;
  }
  if (std::optional<int32_t> id = special(config_.end_of_sequence)) return *id;
  user_error(
      "the tokenizer has no token that ends a document: expected {} or {} among its added_tokens, or an "
      "eos_token in tokenizer_config.json that is one of them",
      kEndsOfText[0], kEndsOfText[1]);
}

std::vector<int32_t> Tokenizer::stops() const {
  if (!config_.stops.empty()) return config_.stops;
  std::vector<int32_t> ids{end_of_text()};
  std::optional<int32_t> turn = special(config_.end_of_sequence);
  if (turn && *turn != ids[0]) ids.push_back(*turn);
  return ids;
}

}  // namespace tethys
