#include "data/tokenizer/tokenizer_config.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/error.h"
#include "data/tokenizer/json_part.h"

namespace tethys {
namespace {

bool by_id(const AddedToken& a, const AddedToken& b) { return a.id < b.id; }

int32_t id_of_key(const JsonPart& part, const std::string& key) {
  int32_t id = -1;
  auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), id);
  if (error != std::errc() || end != key.data() + key.size() || id < 0) {
    part.invalid(fmt::format("\"{}\" is no token id", key));
  }
  return id;
}

// A token is named by its text or by an object that holds it.
std::string named_token(const JsonPart& root, const char* name) {
  std::optional<JsonPart> part = root.find(name);
  if (!part) return "";
  return part->value().is_object() ? part->member("content").text() : part->text();
}

// A text, or a list of templates by name, of which the one called "default" is meant.
std::string chat_template(const JsonPart& root) {
  std::optional<JsonPart> part = root.find("chat_template");
  if (!part) return "";
  if (!part->value().is_array()) return part->text();
  for (size_t i = 0; i < part->size(); ++i) {
    const JsonPart entry = part->element(i);
    if (entry.member("name").text() == "default") return entry.member("template").text();
  }
  return "";
}

// One id, or a list of them, as transformers takes it.
std::vector<int32_t> ids_of(const JsonPart& part) {
  std::vector<int32_t> ids;
  if (!part.value().is_array()) return {part.id()};
  for (size_t i = 0; i < part.size(); ++i) ids.push_back(part.element(i).id());
  return ids;
}

// The configuration of generation stands alone where it is there, as for transformers.
std::vector<int32_t> stops_in(const Path& folder) {
  for (const char* name : {"generation_config.json", "config.json"}) {
    const Path path = folder / name;
    if (!is_there(path)) continue;
    const JsonDocument document(read_file(path, kLargestTokenizerFile), path.string());
    const std::optional<JsonPart> named = document.root().find("eos_token_id");
    return named ? ids_of(*named) : std::vector<int32_t>();
  }
  return {};
}

void check_fits(const Bpe& bpe, const AddedToken& token, std::string_view where) {
  auto id = static_cast<size_t>(token.id);
  if (id < bpe.tokens.size() && bpe.tokens[id] != token.text) {
    user_error("{}: \"{}\" has the id {}, which the vocabulary gives to another token", where, token.text, token.id);
  }
  if (id >= bpe.tokens.size() && token.id != bpe.vocab_size()) {
    user_error("{}: \"{}\" has the id {}; expected {}, as added tokens follow the vocabulary", where, token.text,
               token.id, bpe.vocab_size());
  }
}

}  // namespace

AddedToken read_added_token(const JsonPart& part, int32_t id) {
  AddedToken token;
  token.id = id;
  token.text = part.member("content").text();
  if (token.text.empty()) part.member("content").wrong("some text");
  token.special = part.flag_or("special", false);
  token.single_word = part.flag_or("single_word", false);
  token.lstrip = part.flag_or("lstrip", false);
  token.rstrip = part.flag_or("rstrip", false);
  token.normalized = part.flag_or("normalized", !token.special);
  return token;
}

void add_tokens(Bpe& bpe, const std::vector<AddedToken>& added, std::string_view where) {
  std::unordered_map<std::string, int32_t> ids;
  for (const AddedToken& token : bpe.added) ids[token.text] = token.id;
  for (const AddedToken& token : added) {
    auto place = std::lower_bound(bpe.added.begin(), bpe.added.end(), token, by_id);
    bool id_taken = place != bpe.added.end() && place->id == token.id;
    auto [entry, is_new] = ids.try_emplace(token.text, token.id);
    if (!is_new && entry->second == token.id) continue;
    if (!is_new) {
      user_error("{}: \"{}\" has the id {}, but it has the id {} already", where, token.text, token.id, entry->second);
    }
    if (id_taken) {
      user_error("{}: \"{}\" has the id {}, but \"{}\" has it already", where, token.text, token.id, place->text);
    }
    check_fits(bpe, token, where);
    bpe.added.insert(place, token);
  }
}

TokenizerConfig read_tokenizer_config(const Path& folder) {
  TokenizerConfig config;
  if (Path path = folder / "tokenizer_config.json"; is_there(path)) {
    const JsonDocument document(read_file(path, kLargestTokenizerFile), path.string());
    const JsonPart root = document.root();
    if (std::optional<JsonPart> added = root.find("added_tokens_decoder")) {
      if (!added->value().is_object()) added->wrong("an object");
      for (const auto& [key, value] : added->value().items()) {
        config.added.push_back(read_added_token(added->member(key.c_str()), id_of_key(*added, key)));
      }
      std::sort(config.added.begin(), config.added.end(), by_id);
    }
    config.end_of_sequence = named_token(root, "eos_token");
    config.chat_template = chat_template(root);
  }
  if (Path path = folder / "chat_template.jinja"; is_there(path))
    config.chat_template = read_file(path, kLargestTokenizerFile);
  config.stops = stops_in(folder);
  return config;
}

}  // namespace tethys
