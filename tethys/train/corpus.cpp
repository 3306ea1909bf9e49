#include "train/corpus.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/number.h"
#include "config/config.h"
#include "data/index/token_index.h"
#include "data/sources/named_sources.h"
#include "data/sources/text.h"

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
  data.sources = {{"", 1, data.training}};
  data.order = RowOrder::InOrder;
  // The same bytes are other tokens where they are read as more or fewer.
  data.fingerprint = fmt::format("{}-{}", fingerprint_of(MappedFile(path)), data.training.size());
  return data;
}

Corpus corpus_of(const Config& config, const NamedSource& source, const DataPlaces& places, const Progress& progress) {
  const std::string& folder = config.get_string("data.cache_dir");
  LineOptions lines = line_options(config, places);
  lines.chats = config.get_bool("data.chats");
  return {.files = source.files,
          .lines = lines,
          .folder = folder.empty() ? places.index_folder : folder,
          .name = source.name,
          .validation_share = config.get_float("data.holdout"),
          .progress = progress};
}

std::vector<NamedSource> sources_of(const Config& config) {
  return named_sources(config.get_strings("data.text"), config.get_strings("data.mix"),
                       config.origin("data.mix").place);
}

constexpr const char* kGiveData =
    "give --data.text GLOBS and --data.tokenizer FILE, or --data.tokens FILE (tokens as raw numbers)";

bool names_no_data(const Config& config) {
  return config.get_string("data.tokens").empty() && config.get_strings("data.text").empty();
}

// What the options of the data say of each other.
void check_data(const Config& config) {
  const bool tokens = !config.get_string("data.tokens").empty();
  if (tokens && !config.get_strings("data.mix").empty()) {
    user_error("{} mixes the sources of data.text, and {} is read in order; take one of them", config.cite("data.mix"),
               config.cite("data.tokens"));
  }
  if (!tokens && config.get_string("data.tokenizer").empty()) {
    user_error("{} needs a tokenizer: give --data.tokenizer FILE; `tethys tokenizer train` makes one",
               config.cite("data.text"));
  }
}

TrainingData opened(const Config& config, const Tokenizer& tokenizer, const DataPlaces& places,
                    const Progress& progress) {
  TrainingData data;
  data.files = 0;
  std::vector<TokenStream> held_out;
  const std::vector<NamedSource> sources = sources_of(config);
  for (const NamedSource& source : sources) {
    const TokenIndex index = open_index(tokenizer, corpus_of(config, source, places, progress));
    data.sources.push_back({source.name, source.share, index.training});
    held_out.push_back(index.validation);
    data.files += index.files;
    data.skipped_lines += index.skipped_lines;
    // What a source is called changes nothing; its place among the others does.
    data.fingerprint +=
        sources.size() == 1 ? index.fingerprint : fmt::format("{} {}\n", source.share, index.fingerprint);
  }
  if (sources.size() == 1) {
    data.training = data.sources[0].tokens;
    data.validation = held_out[0];
    return data;
  }
  data.validation =
      interleaved(held_out, fmt::format("the validation text (data.holdout {})", config.get_float("data.holdout")));
  data.fingerprint = hash_hex(data.fingerprint);
  return data;
}

}  // namespace

LineOptions line_options(const Config& config, const DataPlaces& places) {
  return {.text_field = config.get_string("data.text_field"),
          .skip_bad_lines = config.get_bool("data.skip_bad_lines"),
          .parquet_reader = places.parquet_reader};
}

Tokenizer load_tokenizer(const Config& config) {
  Tokenizer tokenizer = Tokenizer::load(config.get_string("data.tokenizer"));
  if (tokenizer.vocab_size() > config.get_int("model.vocab_size")) {
    user_error("the tokenizer has {} tokens and the model {}: {}, {}", tokenizer.vocab_size(),
               config.get_int("model.vocab_size"), config.cite("data.tokenizer"), config.cite("model.vocab_size"));
  }
  return tokenizer;
}

std::string look_at_training_data(const Config& config) {
  if (names_no_data(config)) return fmt::format("data: none is named; {}", kGiveData);
  check_data(config);
  if (!config.get_string("data.tokens").empty()) {
    return fmt::format("data: {} tokens in {}", with_commas(open_tokens(config).training.size()),
                       config.get_string("data.tokens"));
  }
  int64_t files = 0, bytes = 0;
  for (const NamedSource& source : sources_of(config)) {
    for (const std::string& file : find_text_files(source.files)) {
      ++files;
      bytes += static_cast<int64_t>(MappedFile(file).bytes().size());
    }
  }
  return fmt::format("data: {} of {} bytes, not read; a tokenizer of {} tokens", counted(files, "file"),
                     with_commas(bytes), with_commas(load_tokenizer(config).vocab_size()));
}

TrainingData open_training_data(const Config& config, const DataPlaces& places, const Progress& progress) {
  if (names_no_data(config)) user_error("there is nothing to train on: {}", kGiveData);
  check_data(config);
  if (!config.get_string("data.tokens").empty()) return open_tokens(config);
  const Tokenizer tokenizer = load_tokenizer(config);
  return opened(config, tokenizer, places, progress);
}

std::vector<WeightedStream> training_streams(const TrainingData& data) {
  std::vector<WeightedStream> streams;
  for (const TrainingSource& source : data.sources) streams.push_back({source.tokens, source.share});
  return streams;
}

int64_t training_tokens(const TrainingData& data) {
  int64_t tokens = 0;
  for (const TrainingSource& source : data.sources) tokens += source.tokens.size();
  return tokens;
}

int64_t training_documents(const TrainingData& data) {
  int64_t documents = 0;
  for (const TrainingSource& source : data.sources) documents += source.tokens.documents();
  return documents;
}

}  // namespace tethys
