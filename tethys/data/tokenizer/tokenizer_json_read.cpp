#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "base/planted_bug.h"
#include "data/tokenizer/byte_level.h"
#include "data/tokenizer/json_part.h"
#include "data/tokenizer/token_table.h"
#include "data/tokenizer/tokenizer_config.h"
#include "data/tokenizer/tokenizer_json.h"

namespace tethys {
namespace {

std::string type_of(const JsonPart& part) { return part.member("type").text(); }

// A Sequence's parts, or the part itself.
std::vector<JsonPart> steps_of(const JsonPart& part, const char* list) {
  if (type_of(part) != "Sequence") return {part};
  const JsonPart steps = part.member(list);
  std::vector<JsonPart> all;
  for (size_t i = 0; i < steps.size(); ++i) {
    std::vector<JsonPart> inner = steps_of(steps.element(i), list);
    all.insert(all.end(), inner.begin(), inner.end());
  }
  return all;
}

void read_normalizer(Bpe& bpe, const JsonPart& root) {
  std::optional<JsonPart> part = root.find("normalizer");
  if (!part) return;
  for (const JsonPart& step : steps_of(*part, "normalizers")) {
    if (type_of(step) != "NFC") step.unsupported("none or NFC");
    bpe.nfc = true;
  }
}

const Splitter* read_split(const JsonPart& step) {
  const JsonPart pattern = step.member("pattern");
  if (!pattern.find("Regex")) pattern.unsupported("a Regex");
  const JsonPart regex = pattern.member("Regex");
  const Splitter* splitter = find_splitter(regex.text());
  if (splitter == nullptr) regex.unsupported(fmt::format("the pattern of one of these: {}", splitter_names()));
  std::string behavior = step.member("behavior").text();
  bool invert = step.flag_or("invert", false);
  // What the pattern does not match is removed: nothing, if it matches everything.
  bool keeps_matches = behavior == "Removed" && invert && splitter->matches_all;
  if (!keeps_matches && (behavior != "Isolated" || invert)) {
    step.unsupported("a Split with behavior Isolated, not inverted");
  }
  return splitter;
}

void read_pre_tokenizer(Bpe& bpe, const JsonPart& root) {
  const JsonPart part = root.member("pre_tokenizer");
  if (part.value().is_null()) part.unsupported("a ByteLevel, or a Sequence that ends with one");
  const std::vector<JsonPart> steps = steps_of(part, "pretokenizers");
  bpe.splitters.clear();
  for (size_t i = 0; i < steps.size(); ++i) {
    const JsonPart& step = steps[i];
    const std::string type = type_of(step);
    if (i + 1 == steps.size()) {
      if (type != "ByteLevel") part.unsupported("a ByteLevel, or a Sequence that ends with one");
      bpe.add_prefix_space = step.flag_or("add_prefix_space", true);
      if (bpe.add_prefix_space && i > 0) step.unsupported("add_prefix_space false, as it would be put into each piece");
      if (step.flag_or("use_regex", true)) bpe.splitters.push_back(&gpt2_words());
    } else if (type == "Split") {
      bpe.splitters.push_back(read_split(step));
    } else if (type == "Digits") {
      bpe.splitters.push_back(step.flag_or("individual_digits", false) ? &single_digits() : &digit_runs());
    } else {
      step.unsupported("Split, Digits or, at the end, ByteLevel");
    }
  }
  if (steps.empty()) part.unsupported("a ByteLevel, or a Sequence that ends with one");
}

void read_template(Bpe& bpe, const JsonPart& part) {
  const JsonPart single = part.member("single");
  bool before = true;
  for (size_t i = 0; i < single.size(); ++i) {
    const JsonPart piece = single.element(i);
    if (piece.find("Sequence")) {
      if (!before) single.unsupported("one Sequence");
      before = false;
      continue;
    }
    const std::string name = piece.member("SpecialToken").member("id").text();
    const JsonPart ids = part.member("special_tokens").member(name.c_str()).member("ids");
    for (size_t k = 0; k < ids.size(); ++k) {
      const JsonPart id = ids.element(k);
      if (id.id() >= bpe.vocab_size()) id.wrong(fmt::format("an id of the vocabulary, below {}", bpe.vocab_size()));
      (before ? bpe.prefix : bpe.suffix).push_back(id.id());
    }
  }
  if (before) single.wrong("a Sequence among the parts");
}

void read_post_processor(Bpe& bpe, const JsonPart& root) {
  std::optional<JsonPart> part = root.find("post_processor");
  if (!part) return;
  bool found = false;
  for (const JsonPart& step : steps_of(*part, "processors")) {
    const std::string type = type_of(step);
    if (type == "ByteLevel") continue;  // changes offsets, not ids
    if (type != "TemplateProcessing") step.unsupported("none, ByteLevel or TemplateProcessing");
    if (found) step.unsupported("one template");
    found = true;
    read_template(bpe, step);
  }
}

void read_decoder(const JsonPart& root) {
  const JsonPart decoder = root.member("decoder");
  if (decoder.value().is_null()) decoder.unsupported("ByteLevel");
  const std::vector<JsonPart> steps = steps_of(decoder, "decoders");
  if (steps.size() != 1 || type_of(steps[0]) != "ByteLevel") decoder.unsupported("ByteLevel");
}

using AddedIds = std::unordered_map<std::string, int32_t>;

// The bytes that a spelling of the vocabulary stands for. Added tokens are spelt as they are.
std::string bytes_of(const JsonPart& vocab, const std::string& text, int32_t id, const AddedIds& added) {
  auto found = added.find(text);
  if (found != added.end() && found->second == id) return text;
  std::optional<std::string> bytes = from_byte_level(text);
  if (!bytes || bytes->empty()) {
    vocab.invalid(fmt::format("the token \"{}\" is not written in the byte-level alphabet", text));
  }
  return *bytes;
}

void read_vocab(Bpe& bpe, const JsonPart& vocab, const AddedIds& added) {
  if (!vocab.value().is_object()) vocab.wrong("an object");
  size_t size = vocab.value().size();
  bpe.tokens.resize(size);
  for (const auto& [text, id] : vocab.value().items()) {
    if (!id.is_number_unsigned() || (id.get<uint64_t>() >= size && !kPlantedBug)) {
      vocab.invalid(
          fmt::format("the token \"{}\" has the id {}; expected 0 to {}, each once", text, id.dump(), size - 1));
    }
    std::string& slot = bpe.tokens[id.get<size_t>()];
    if (!slot.empty()) {
      vocab.invalid(fmt::format("the tokens \"{}\" and \"{}\" share the id {}", to_byte_level(slot), text, id.dump()));
    }
    slot = bytes_of(vocab, text, id.get<int32_t>(), added);
  }
  std::array<bool, 256> there{};
  for (const std::string& token : bpe.tokens) {
    if (token.size() == 1) there[static_cast<uint8_t>(token[0])] = true;
  }
  for (size_t byte = 0; byte < 256; ++byte) {
    if (!there[byte]) {
      vocab.invalid(fmt::format("no token for byte {}, which the alphabet spells \"{}\"", byte,
                                to_byte_level(std::string(1, static_cast<char>(byte)))));
    }
  }
}

// The two spellings: "a b" and ["a", "b"].
std::pair<std::string, std::string> split_merge(const JsonPart& merge) {
  std::string left, right;
  const nlohmann::json& value = merge.value();
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    size_t space = text.find(' ');
    left = text.substr(0, space);
    if (space != std::string::npos) right = text.substr(space + 1);
  } else if (value.is_array() && value.size() == 2) {
    left = merge.element(0).text();
    right = merge.element(1).text();
  }
  std::optional<std::string> left_bytes = from_byte_level(left), right_bytes = from_byte_level(right);
  if (!left_bytes || !right_bytes || left_bytes->empty() || right_bytes->empty()) {
    merge.wrong("two tokens in the byte-level alphabet");
  }
  return {*left_bytes, *right_bytes};
}

void read_merges(Bpe& bpe, const JsonPart& merges) {
  const TokenTable ids(bpe.tokens);
  size_t count = merges.size();
  bpe.merges.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const JsonPart merge = merges.element(i);
    auto [left, right] = split_merge(merge);
    Merge read{ids.find(bpe.tokens, left), ids.find(bpe.tokens, right), ids.find(bpe.tokens, left + right)};
    if (read.left < 0 || read.right < 0) merge.wrong("two tokens of the vocabulary");
    if (read.result < 0) merge.wrong("two tokens that together are one of the vocabulary");
    bpe.merges.push_back(read);
  }
}

void read_model(Bpe& bpe, const JsonPart& model, const AddedIds& added) {
  // Files from before there were other models do not name theirs.
  if (model.text_or("type", "BPE") != "BPE") model.member("type").unsupported("BPE");
  if (auto dropout = model.find("dropout"); dropout && dropout->value() != 0) dropout->unsupported("none");
  for (const char* name : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (!model.text_or(name, "").empty())
      model.member(name).unsupported("none, as byte-level tokens are spelt in full");
  }
  if (model.flag_or("byte_fallback", false)) model.member("byte_fallback").unsupported("false");
  model.text_or("unk_token", "");  // never needed, as every byte has a token
  model.flag_or("fuse_unk", false);
  bpe.ignore_merges = model.flag_or("ignore_merges", false);
  read_vocab(bpe, model.member("vocab"), added);
  read_merges(bpe, model.member("merges"));
}

std::vector<AddedToken> read_added(const JsonPart& root) {
  std::vector<AddedToken> added;
  std::unordered_set<std::string> texts;
  std::optional<JsonPart> list = root.find("added_tokens");
  if (!list) return added;
  for (size_t i = 0; i < list->size(); ++i) {
    const JsonPart token = list->element(i);
    AddedToken read = read_added_token(token, token.member("id").id());
    if (!texts.insert(read.text).second) token.wrong(fmt::format("no second added token \"{}\"", read.text));
    added.push_back(std::move(read));
  }
  std::sort(added.begin(), added.end(), [](const AddedToken& a, const AddedToken& b) { return a.id < b.id; });
  return added;
}

}  // namespace

Bpe parse_tokenizer_json(std::string_view text, std::string_view where) {
  const JsonDocument document(text, std::string(where));
  const JsonPart root = document.root();
  const JsonPart model = root.member("model");
  for (const char* name : {"truncation", "padding"}) {
    if (root.find(name)) root.member(name).unsupported("none");
  }
  Bpe bpe;
  read_normalizer(bpe, root);
  read_pre_tokenizer(bpe, root);
  read_decoder(root);
  std::vector<AddedToken> added = read_added(root);
  AddedIds added_ids;
  for (const AddedToken& token : added) added_ids[token.text] = token.id;
  read_model(bpe, model, added_ids);
  add_tokens(bpe, added, fmt::format("{}: added_tokens", where));
  read_post_processor(bpe, root);
  return bpe;
}

}  // namespace tethys
