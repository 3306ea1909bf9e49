// tethys tokenizer train | encode | decode
#include "data/tokenizer/tokenizer.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <span>

#include "base/error.h"
#include "base/number.h"
#include "config/option_table.h"
#include "data/ordered_batches.h"
#include "data/parallel.h"
#include "data/sources/documents.h"
#include "data/sources/text.h"
#include "data/tokenizer/encoder.h"
#include "data/tokenizer/train_bpe.h"
#include "tools/commands.h"
#include "tools/locations.h"
#include "tools/screen.h"
#include "tools/standard_error.h"
#include "train/corpus.h"

namespace tethys {
namespace {

// How lines and rows are read, as training reads them.
std::vector<Option> with_line_options(std::vector<Option> options) {
  for (const Option& option : option_table()) {
    if (option.name == "data.text_field" || option.name == "data.skip_bad_lines") options.push_back(option);
  }
  return options;
}

std::string skipped_note(int64_t lines) { return counted(lines, "bad line") + " skipped"; }

std::vector<Option> train_options() {
  return with_line_options({
      int_option("vocab_size", 2048, between(257, 1 << 24),
                 "number of tokens, the 256 bytes and the end of text included"),
      text_option("output", "tokenizer.json", "the file to write"),
      int_option("threads", 0, between(0, 4096), "threads to use; 0: all of the machine's"),
  });
}

int train(Invocation& invocation) {
  if (invocation.arguments.empty()) {
    user_error("the text files are missing; usage: tethys {} {}", kTokenizerTrainCommand.name,
               kTokenizerTrainCommand.usage);
  }
  const std::vector<std::string> files = find_text_files(invocation.arguments);
  BpeTraining training;
  training.vocab_size = invocation.config.get_int("vocab_size");
  training.lines = line_options(invocation.config, data_places(invocation.surroundings));
  training.threads = static_cast<int>(invocation.config.get_int("threads"));
  Screen screen(invocation.surroundings.out, invocation.surroundings.width);
  training.progress = [&](std::string_view stage, int64_t done, int64_t total) { screen.stage(stage, done, total); };
  const std::string& output = invocation.config.get_string("output");
  make_directories(Path(output).parent_path());
  require_writable(output);
  const TrainedBpe trained = train_bpe(files, training);
  const Tokenizer tokenizer(trained.bpe);
  tokenizer.save(output);
  screen.line(fmt::format("{}: {}, from {}{}", output, counted(tokenizer.vocab_size(), "token"),
                          counted(static_cast<int64_t>(files.size()), "file"),
                          trained.skipped_lines > 0 ? "; " + skipped_note(trained.skipped_lines) : ""));
  if (tokenizer.vocab_size() < training.vocab_size) {
    screen.line(fmt::format("fewer than {}: no two neighbours are left that occur together twice; more text has more",
                            invocation.config.cite("vocab_size")));
  }
  return 0;
}

Option tokenizer_option() {
  return text_option("tokenizer", "tokenizer.json", "the tokenizer.json to use; what lies beside it counts too");
}

std::vector<Option> encode_options() {
  return with_line_options({
      tokenizer_option(),
      text_option("documents", "", "file whose documents are encoded in the place of TEXT, as training does"),
      bool_option("as_texts", false, "encode the documents as if each were a TEXT"),
      bool_option("template", true, "put around each TEXT what the tokenizer says, such as a begin of text"),
      bool_option("summary", false, "of the documents, print counts and speed in place of the ids"),
      int_option("threads", 0, between(0, 4096), "threads for the documents; 0: all of the machine's"),
  });
}

Template template_of(const Config& config) { return config.get_bool("template") ? Template::Apply : Template::Leave; }

// Many at a time: as training does, nothing but text with an end, or as texts.
int encode_documents(const Invocation& invocation, const Tokenizer& tokenizer) {
  const Config& config = invocation.config;
  std::ostream& out = invocation.surroundings.out;
  const bool summary = config.get_bool("summary");
  const Template enclose = template_of(config);
  // Of a document; nothing if they are texts.
  const auto end = config.get_bool("as_texts") ? std::nullopt : std::optional(tokenizer.end_of_text());
  const auto threads = static_cast<int>(config.get_int("threads"));
  std::vector<Encoder> encoders(static_cast<size_t>(thread_count(threads)), Encoder(tokenizer));
  const auto encode = [&](int worker, const std::string& text) {
    Encoder& encoder = encoders[static_cast<size_t>(worker)];
    std::vector<int32_t> ids;
    if (!end) {
      encoder.encode(text, ids, enclose);
    } else {
      encoder.encode_document(text, ids);
      ids.push_back(*end);
    }
    return ids;
  };
  size_t documents = 0, bytes = 0, tokens = 0;
  const auto use = [&](std::span<const std::string> texts, std::span<const std::vector<int32_t>> batch) {
    documents += texts.size();
    for (const std::string& text : texts) bytes += text.size();
    for (const std::vector<int32_t>& ids : batch) {
      tokens += ids.size();
      if (!summary) fmt::print(out, "{}\n", fmt::join(ids, " "));
    }
  };
  OrderedBatches<std::string, std::vector<int32_t>> batches(threads, encode, use);
  const auto add = [&](std::string text, int64_t) {
    if (text.empty()) return;  // no document
    const auto size = static_cast<int64_t>(text.size());
    batches.add(std::move(text), size);
  };
  const std::string& file = config.get_string("documents");
  const int64_t skipped_lines =
      for_each_document(file, line_options(config, data_places(invocation.surroundings)), add);
  batches.finish();
  if (summary) {
    fmt::print(out, "documents {}  bytes {}  tokens {}  seconds {:.3f}  MB/s {:.2f}\n", documents, bytes, tokens,
               batches.seconds(), static_cast<double>(bytes) / 1e6 / std::max(batches.seconds(), 1e-9));
  }
  // Apart from the ids, and after them.
  out.flush();
  if (skipped_lines > 0) tell(fmt::format("tethys: {}: {}", file, skipped_note(skipped_lines)));
  return 0;
}

int encode(Invocation& invocation) {
  const Tokenizer tokenizer = Tokenizer::load(invocation.config.get_string("tokenizer"));
  if (!invocation.config.get_string("documents").empty()) {
    if (!invocation.arguments.empty()) user_error("give a text or --documents, not both");
    return encode_documents(invocation, tokenizer);
  }
  const std::string& text = single_argument(invocation, kTokenizerEncodeCommand, "the text");
  const std::vector<int32_t> ids = tokenizer.encode(text, template_of(invocation.config));
  fmt::print(invocation.surroundings.out, "{}\n", fmt::join(ids, " "));
  return 0;
}

std::vector<Option> decode_options() {
  return {
      tokenizer_option(),
      bool_option("skip_special", false, "leave special tokens out of the text"),
  };
}

int32_t parse_id(const std::string& text) {
  const std::optional<int32_t> id = parse_number<int32_t>(text);
  if (!id) user_error("'{}' is no token id: expected an int", text);
  return *id;
}

int decode(Invocation& invocation) {
  const Tokenizer tokenizer = Tokenizer::load(invocation.config.get_string("tokenizer"));
  std::vector<int32_t> ids;
  for (const std::string& text : invocation.arguments) ids.push_back(parse_id(text));
  const auto specials = invocation.config.get_bool("skip_special") ? Specials::Skip : Specials::Keep;
  fmt::print(invocation.surroundings.out, "{}\n", tokenizer.decode(ids, specials));
  return 0;
}

}  // namespace

const Command kTokenizerTrainCommand{
    "tokenizer train",
    "FILES… [--vocab_size N] [--output FILE]",
    "learn a byte-level BPE vocabulary from text files",
    "  tethys tokenizer train 'books/**/*.txt' --vocab_size 8192 --output tokenizer.json\n"
    "  tethys tokenizer train corpus.jsonl.zst --data.text_field content --vocab_size 32000\n\n"
    "FILES are paths or globs (** goes through folders; quote them) of what data.text takes. The file\n"
    "is Hugging Face's tokenizer.json.\n",
    train_options,
    train,
};

const Command kTokenizerEncodeCommand{
    "tokenizer encode",
    "TEXT | --documents FILE [--tokenizer FILE]",
    "print the token ids of a text, or of many",
    "  tethys tokenizer encode 'def main():' --tokenizer tokenizer.json\n"
    "  tethys tokenizer encode --documents corpus.jsonl.gz --summary\n\n"
    "FILE is Hugging Face's tokenizer.json of any byte-level BPE, such as Llama 3's or Qwen3's. The ids of each "
    "document\n"
    "are a line, those that training sees: special tokens that it spells are only text, and its end is a token.\n",
    encode_options,
    encode,
};

const Command kTokenizerDecodeCommand{
    "tokenizer decode",
    "ID… [--tokenizer FILE]",
    "print the text of token ids",
    "  tethys tokenizer decode 267 310 12 --tokenizer tokenizer.json\n",
    decode_options,
    decode,
};

}  // namespace tethys
