#include <nlohmann/json.hpp>

#include "data/tokenizer/byte_level.h"
#include "data/tokenizer/tokenizer_json.h"

namespace tethys {
namespace {

// The order of the vocabulary is that of its ids; looking up a name in it is linear.
using Json = nlohmann::ordered_json;

Json byte_level(bool add_prefix_space, bool use_regex) {
  return {
      {"type", "ByteLevel"}, {"add_prefix_space", add_prefix_space}, {"trim_offsets", false}, {"use_regex", use_regex}};
}

// As Splits and a ByteLevel that does not split; a prefix space is put in before anything is split, which only a
// ByteLevel by itself can say.
Json pre_tokenizer(const Bpe& bpe) {
  if (bpe.add_prefix_space) return byte_level(true, !bpe.splitters.empty());
  Json steps = Json::array();
  for (const Splitter* splitter : bpe.splitters) {
    steps.push_back(
        {{"type", "Split"}, {"pattern", {{"Regex", splitter->pattern}}}, {"behavior", "Isolated"}, {"invert", false}});
  }
  steps.push_back(byte_level(false, false));
  return {{"type", "Sequence"}, {"pretokenizers", std::move(steps)}};
}

// Of every id. Added tokens are spelt as they are, wherever they stand.
std::vector<std::string> spellings(const Bpe& bpe) {
  std::vector<std::string> names(static_cast<size_t>(bpe.vocab_size()));
  for (size_t id = 0; id < bpe.tokens.size(); ++id) names[id] = to_byte_level(bpe.tokens[id]);
  for (const AddedToken& token : bpe.added) names[static_cast<size_t>(token.id)] = token.text;
  return names;
}

Json post_processor(const Bpe& bpe, const std::vector<std::string>& names) {
  if (bpe.prefix.empty() && bpe.suffix.empty()) return nullptr;
  Json single = Json::array(), pair = Json::array(), specials = Json::object();
  auto add = [&](const std::vector<int32_t>& ids) {
    for (int32_t id : ids) {
      const std::string& name = names[static_cast<size_t>(id)];
      Json part = {{"SpecialToken", {{"id", name}, {"type_id", 0}}}};
      single.push_back(part);
      pair.push_back(part);
      specials[name] = {{"id", name}, {"ids", Json::array({id})}, {"tokens", Json::array({name})}};
    }
  };
  add(bpe.prefix);
  single.push_back({{"Sequence", {{"id", "A"}, {"type_id", 0}}}});
  pair.push_back({{"Sequence", {{"id", "A"}, {"type_id", 0}}}});
  pair.push_back({{"Sequence", {{"id", "B"}, {"type_id", 1}}}});
  add(bpe.suffix);
  return {{"type", "TemplateProcessing"},
          {"single", std::move(single)},
          {"pair", std::move(pair)},
          {"special_tokens", std::move(specials)}};
}

Json added_tokens(const Bpe& bpe) {
  Json added = Json::array();
  for (const AddedToken& token : bpe.added) {
    added.push_back({{"id", token.id},
                     {"content", token.text},
                     {"single_word", token.single_word},
                     {"lstrip", token.lstrip},
                     {"rstrip", token.rstrip},
                     {"normalized", token.normalized},
                     {"special", token.special}});
  }
  return added;
}

Json model(const Bpe& bpe, const std::vector<std::string>& names) {
  Json vocab = Json::object();
  auto& entries = vocab.get_ref<Json::object_t&>();
  for (size_t id = 0; id < bpe.tokens.size(); ++id) entries.emplace_back(names[id], id);
  Json merges = Json::array();
  for (const Merge& merge : bpe.merges) {
    merges.push_back(names[static_cast<size_t>(merge.left)] + " " + names[static_cast<size_t>(merge.right)]);
  }
  return {{"type", "BPE"},
          {"dropout", nullptr},
          {"unk_token", nullptr},
          {"continuing_subword_prefix", nullptr},
          {"end_of_word_suffix", nullptr},
          {"fuse_unk", false},
          {"byte_fallback", false},
          {"ignore_merges", bpe.ignore_merges},
          {"vocab", std::move(vocab)},
          {"merges", std::move(merges)}};
}

}  // namespace

std::string write_tokenizer_json(const Bpe& bpe) {
  const std::vector<std::string> names = spellings(bpe);
  Json normalizer;
  if (bpe.nfc) normalizer = {{"type", "NFC"}};
  Json root = {{"version", "1.0"},
               {"truncation", nullptr},
               {"padding", nullptr},
               {"added_tokens", added_tokens(bpe)},
               {"normalizer", std::move(normalizer)},
               {"pre_tokenizer", pre_tokenizer(bpe)},
               {"post_processor", post_processor(bpe, names)},
               {"decoder", byte_level(false, false)},
               {"model", model(bpe, names)}};
  return root.dump(2) + "\n";
}

}  // namespace tethys
