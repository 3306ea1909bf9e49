#include "train/corpus.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "config/config.h"
#include "data/index/token_index.h"

namespace tethys {
namespace {

// A raw file may be huge, so its beginning and its size stand for it.
std::string fingerprint_of(const MappedFile& file) {
  const std::span<const std::byte> bytes = file.bytes();
  return fmt::format("{}-{}", hash_hex(bytes.first(std::min<size_t>(bytes.size(), 1 << 20))), bytes.size());
}

TokenType token_type_of(const Config& config) {
  const std::string& name = config.get_string("data.token_type");
  if (name == "auto") return TokenType::Auto;
  return name == "uint16" ? TokenType::U16 : TokenType::U32;
}

TrainingData open_tokens(const Config& config) {
  const std::string& path = config.get_string("data.tokens");
  if (config.get_bool("validation.enable")) {
    user_error("{}: a raw token file has no held-out documents; take data.text, or {}", config.cite("data.tokens"),
               "--no-validation.enable");
  }
  TrainingData data;
  data.training = open_raw_tokens(path, config.get_int("model.vocab_size"), std::nullopt, token_type_of(config));
  data.order = RowOrder::InOrder;
  // The same bytes are other tokens where they are read as more or fewer.
  data.fingerprint = fmt::format("{}-{}", fingerprint_of(MappedFile(path)), data.training.size());
  return data;
}

}  // namespace

Tokenizer load_tokenizer(const Config& config) {
  Tokenizer tokenizer = Tokenizer::load(config.get_string("data.tokenizer"));
  if (tokenizer.vocab_size() > config.get_int("model.vocab_size")) {
    user_error("the tokenizer has {} tokens and the model {}: {}, {}", tokenizer.vocab_size(),
               config.get_int("model.vocab_size"), config.cite("data.tokenizer"), config.cite("model.vocab_size"));
  }
  return tokenizer;
}

TrainingData open_training_data(const Config& config, const std::string& cache_folder, const Progress& progress) {
  if (!config.get_string("data.tokens").empty()) return open_tokens(config);
  if (config.get_strings("data.text").empty()) {
    user_error(
        "there is nothing to train on: give --data.text GLOBS and --data.tokenizer FILE, or --data.tokens FILE "
        "(tokens as raw numbers)");
  }
  if (config.get_string("data.tokenizer").empty()) {
    user_error("{} needs a tokenizer: give --data.tokenizer FILE; `tethys tokenizer train` makes one",
               config.cite("data.text"));
  }
  const Tokenizer tokenizer = load_tokenizer(config);
  const std::string& folder = config.get_string("data.cache_dir");
  TokenIndex index = open_index(tokenizer, {.files = config.get_strings("data.text"),
                                            .lines = {.text_field = config.get_string("data.text_field"),
                                                      .skip_bad_lines = config.get_bool("data.skip_bad_lines")},
                                            .folder = folder.empty() ? cache_folder : folder,
                                            .validation_share = config.get_float("data.holdout"),
                                            .progress = progress});
  return {index.training, index.validation, RowOrder::Shuffled, index.fingerprint, index.files, index.skipped_lines};
}

}  // namespace tethys
