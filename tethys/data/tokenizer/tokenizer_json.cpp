#include "data/tokenizer/tokenizer_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/error.h"
#include "base/json_message.h"
#include "data/tokenizer/byte_level.h"

namespace tethys {
namespace {

using Json = nlohmann::json;
// For writing, as the order of the vocabulary is that of its ids; looking up a name in it is linear.
using OrderedJson = nlohmann::ordered_json;

OrderedJson byte_level() {
  return {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", false}, {"use_regex", false}};
}

OrderedJson pre_tokenizer_of(std::string_view pattern) {
  OrderedJson split = {
      {"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", "Isolated"}, {"invert", false}};
  return {{"type", "Sequence"}, {"pretokenizers", OrderedJson::array({split, byte_level()})}};
}

class Reader {
 public:
  Reader(const Json& root, std::string_view where) : root_(root), where_(where) {}

  Bpe read() const {
    if (!root_.is_object()) invalid("the top level is not an object");
    for (const char* name : {"normalizer", "truncation", "padding"}) expect_null(root_, name, name);
    if (root_.contains("post_processor") && !root_["post_processor"].is_null() &&
        root_["post_processor"].value("type", "") != "ByteLevel") {
      unsupported("post_processor", root_["post_processor"], "null or ByteLevel");
    }
    const Json& decoder = member(root_, "decoder");
    if (!decoder.is_object() || decoder.value("type", "") != "ByteLevel") unsupported("decoder", decoder, "ByteLevel");
    Bpe bpe;
    bpe.splitter = read_splitter();
    read_model(bpe);
    read_specials(bpe);
    return bpe;
  }

 private:
  template <typename... Args>
  [[noreturn]] void invalid(fmt::format_string<Args...> format, Args&&... args) const {
    user_error("{} is not a valid tokenizer.json: {}", where_, fmt::format(format, std::forward<Args>(args)...));
  }

  [[noreturn]] void unsupported(std::string_view what, const Json& value, std::string_view expected) const {
    std::string got = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (got.size() > 200) got = got.substr(0, 200) + " …";
    user_error("{}: {} is {}, which is not supported; expected {}, as `tethys tokenizer train` writes it", where_, what,
               got, expected);
  }

  const Json& member(const Json& object, const char* name) const {
    if (!object.is_object() || !object.contains(name)) invalid("\"{}\" is missing", name);
    return object[name];
  }

  void expect_null(const Json& object, const char* name, std::string_view what) const {
    if (object.contains(name) && !object[name].is_null()) unsupported(what, object[name], "null");
  }

  void expect_false(const Json& object, const char* name, std::string_view what) const {
    if (object.contains(name) && !object[name].is_null() && object[name] != false) {
      unsupported(what, object[name], "false");
    }
  }

  const Splitter* read_splitter() const {
    const Json& steps = member(root_, "pre_tokenizer");
    std::string_view expected = "a Sequence of Split and ByteLevel";
    bool sequence = steps.is_object() && steps.value("type", "") == "Sequence" && steps.contains("pretokenizers") &&
                    steps["pretokenizers"].size() == 2;
    if (!sequence) unsupported("pre_tokenizer", steps, expected);
    const Json& split = steps["pretokenizers"][0];
    const Json& bytes = steps["pretokenizers"][1];
    bool split_fits = split.value("type", "") == "Split" && split.value("behavior", "") == "Isolated" &&
                      !split.value("invert", false) && split.contains("pattern") && split["pattern"].contains("Regex");
    bool bytes_fit = bytes.value("type", "") == "ByteLevel" && !bytes.value("add_prefix_space", true) &&
                     !bytes.value("use_regex", true);
    if (!split_fits || !bytes_fit) unsupported("pre_tokenizer", steps, expected);
    const Splitter* splitter = find_splitter(split["pattern"]["Regex"].get<std::string>());
    if (splitter == nullptr) unsupported("the split pattern", split["pattern"]["Regex"], ascii_classes().pattern);
    return splitter;
  }

  void read_model(Bpe& bpe) const {
    const Json& model = member(root_, "model");
    if (!model.is_object() || model.value("type", "") != "BPE") unsupported("model", model, "a BPE model");
    for (const char* name : {"dropout", "unk_token"}) expect_null(model, name, name);
    for (const char* name : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      if (model.contains(name) && model[name] != "") expect_null(model, name, name);
    }
    for (const char* name : {"fuse_unk", "byte_fallback", "ignore_merges"}) expect_false(model, name, name);
    read_vocab(bpe, member(model, "vocab"));
    read_merges(bpe, member(model, "merges"));
  }

  void read_vocab(Bpe& bpe, const Json& vocab) const {
    if (!vocab.is_object()) invalid("model.vocab is not an object");
    bpe.tokens.resize(vocab.size());
    for (const auto& [text, id] : vocab.items()) {
      std::optional<std::string> bytes = from_byte_level(text);
      if (!bytes || bytes->empty()) invalid("the token \"{}\" is not written in the byte-level alphabet", text);
      if (!id.is_number_unsigned() || id.get<uint64_t>() >= vocab.size()) {
        invalid("the token \"{}\" has the id {}; expected 0 to {}, each once", text, id.dump(), vocab.size() - 1);
      }
      std::string& slot = bpe.tokens[id.get<size_t>()];
      if (!slot.empty()) invalid("the tokens \"{}\" and \"{}\" share the id {}", to_byte_level(slot), text, id.dump());
      slot = *bytes;
    }
  }

  void read_merges(Bpe& bpe, const Json& merges) const {
    std::unordered_map<std::string, int32_t> ids;
    for (size_t id = 0; id < bpe.tokens.size(); ++id) ids[bpe.tokens[id]] = static_cast<int32_t>(id);
    for (int byte = 0; byte < 256; ++byte) {
      if (!ids.contains(std::string(1, static_cast<char>(byte)))) {
        invalid("the vocabulary has no token for byte {}", byte);
      }
    }
    auto id_of = [&](const std::string& bytes, const Json& merge) {
      auto found = ids.find(bytes);
      if (found == ids.end()) invalid("the merge {} uses or makes a token that is not in the vocabulary", merge.dump());
      return found->second;
    };
    if (!merges.is_array()) invalid("model.merges is not an array");
    for (const Json& merge : merges) {
      auto [left, right] = split_merge(merge);
      bpe.merges.push_back({id_of(left, merge), id_of(right, merge), id_of(left + right, merge)});
    }
  }

  // The two spellings: "a b" and ["a", "b"].
  std::pair<std::string, std::string> split_merge(const Json& merge) const {
    std::string left, right;
    if (merge.is_string()) {
      const auto& text = merge.get_ref<const std::string&>();
      size_t space = text.find(' ');
      left = text.substr(0, space);
      if (space != std::string::npos) right = text.substr(space + 1);
    } else if (merge.is_array() && merge.size() == 2) {
      left = merge[0].get<std::string>();
      right = merge[1].get<std::string>();
    }
    std::optional<std::string> left_bytes = from_byte_level(left), right_bytes = from_byte_level(right);
    if (!left_bytes || !right_bytes || left_bytes->empty() || right_bytes->empty()) {
      invalid("the merge {} is not two byte-level tokens", merge.dump());
    }
    return {*left_bytes, *right_bytes};
  }

  void read_specials(Bpe& bpe) const {
    if (!root_.contains("added_tokens")) return;
    std::vector<std::pair<int64_t, std::string>> specials;
    for (const Json& token : root_["added_tokens"]) {
      for (const char* name : {"single_word", "lstrip", "rstrip", "normalized"}) {
        expect_false(token, name, fmt::format("{} of an added token", name));
      }
      specials.emplace_back(member(token, "id").get<int64_t>(), member(token, "content").get<std::string>());
    }
    std::sort(specials.begin(), specials.end());
    for (const auto& [id, text] : specials) {
      if (text.empty()) invalid("the added token {} is empty", id);
      if (id != bpe.vocab_size()) {
        invalid("the added token \"{}\" has the id {}; expected {}, as added tokens follow the vocabulary", text, id,
                bpe.vocab_size());
      }
      bpe.specials.push_back(text);
    }
  }

  const Json& root_;
  std::string_view where_;
};

}  // namespace

std::string write_tokenizer_json(const Bpe& bpe) {
  OrderedJson vocab = OrderedJson::object();
  auto& entries = vocab.get_ref<OrderedJson::object_t&>();
  for (size_t id = 0; id < bpe.tokens.size(); ++id) entries.emplace_back(to_byte_level(bpe.tokens[id]), id);
  OrderedJson merges = OrderedJson::array();
  for (const Merge& merge : bpe.merges) {
    merges.push_back(to_byte_level(bpe.tokens[static_cast<size_t>(merge.left)]) + " " +
                     to_byte_level(bpe.tokens[static_cast<size_t>(merge.right)]));
  }
  OrderedJson added = OrderedJson::array();
  for (size_t i = 0; i < bpe.specials.size(); ++i) {
    added.push_back({{"id", bpe.tokens.size() + i},
                     {"content", bpe.specials[i]},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", true}});
  }
  OrderedJson model = {{"type", "BPE"},
                       {"dropout", nullptr},
                       {"unk_token", nullptr},
                       {"continuing_subword_prefix", nullptr},
                       {"end_of_word_suffix", nullptr},
                       {"fuse_unk", false},
                       {"byte_fallback", false},
                       {"ignore_merges", false},
                       {"vocab", std::move(vocab)},
                       {"merges", std::move(merges)}};
  OrderedJson root = {{"version", "1.0"},          {"truncation", nullptr},
                      {"padding", nullptr},        {"added_tokens", std::move(added)},
                      {"normalizer", nullptr},     {"pre_tokenizer", pre_tokenizer_of(bpe.splitter->pattern)},
                      {"post_processor", nullptr}, {"decoder", byte_level()},
                      {"model", std::move(model)}};
  return root.dump(2) + "\n";
}

Bpe parse_tokenizer_json(std::string_view text, std::string_view where) {
  try {
    Json root = Json::parse(text);
    return Reader(root, where).read();
  } catch (const Json::exception& error) {
    user_error("{} is not a valid tokenizer.json: {}", where, without_json_code(error.what()));
  }
}

}  // namespace tethys
