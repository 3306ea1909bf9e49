// tethys tokenizer train | encode | decode
#include "data/tokenizer/tokenizer.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/number.h"
#include "data/parallel.h"
#include "data/sources/text.h"
#include "data/tokenizer/encoder.h"
#include "data/tokenizer/train_bpe.h"
#include "tools/commands.h"
#include "tools/screen.h"

namespace tethys {
namespace {

std::vector<Option> train_options() {
  return {
      int_option("vocab_size", 2048, between(257, 1 << 24),
                 "number of tokens, the 256 bytes and the end of text included"),
      text_option("output", "tokenizer.json", "the file to write"),
      int_option("threads", 0, between(0, 4096), "threads to use; 0: all of the machine's"),
  };
}

int train(Invocation& invocation) {
  if (invocation.arguments.empty()) {
    user_error("the text files are missing; usage: tethys {} {}", kTokenizerTrainCommand.name,
               kTokenizerTrainCommand.usage);
  }
  const std::vector<std::string> files = find_text_files(invocation.arguments);
  BpeTraining training;
  training.vocab_size = invocation.config.get_int("vocab_size");
  training.threads = static_cast<int>(invocation.config.get_int("threads"));
  Screen screen(invocation.surroundings.out, invocation.surroundings.width);
  training.progress = [&](std::string_view stage, int64_t done, int64_t total) { screen.stage(stage, done, total); };
  const Tokenizer tokenizer(train_bpe(files, training));
  const std::string& output = invocation.config.get_string("output");
  const Path folder = Path(output).parent_path();
  if (!folder.empty()) make_directories(folder);
  tokenizer.save(output);
  screen.line(fmt::format("{}: {}, from {}", output, counted(tokenizer.vocab_size(), "token"),
                          counted(static_cast<int64_t>(files.size()), "file")));
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
  return {
      tokenizer_option(),
      text_option("documents", "", "JSON lines to encode instead of TEXT: texts, or objects with a \"text\""),
      bool_option("template", true, "put around each text what the tokenizer says, such as a begin of text"),
      bool_option("summary", false, "of the documents, print counts and speed in place of the ids"),
      int_option("threads", 0, between(0, 4096), "threads for the documents; 0: all of the machine's"),
  };
}

// A line of a documents file.
std::string document_of(const std::string& line, const std::string& path, int64_t number) {
  const auto bad = [&](std::string_view what) { user_error("{}: line {} {}", path, number, what); };
  const nlohmann::json value = nlohmann::json::parse(line, nullptr, false);
  if (value.is_discarded()) bad("is not JSON");
  const bool holds_text = value.is_object() && value.contains("text");
  const nlohmann::json& text = holds_text ? value["text"] : value;
  if (!text.is_string()) bad("is neither a text nor an object with a \"text\"");
  return text.get<std::string>();
}

struct Summary {
  int64_t documents = 0;
  int64_t bytes = 0;
  int64_t tokens = 0;
  double seconds = 0;  // of encoding alone
};

int encode_documents(const Invocation& invocation, const Tokenizer& tokenizer) {
  constexpr size_t kBatch = 4096;
  const Config& config = invocation.config;
  const std::string& path = config.get_string("documents");
  const auto enclose = config.get_bool("template") ? Template::Apply : Template::Leave;
  const auto threads = static_cast<int>(config.get_int("threads"));
  std::ifstream file(path);
  if (!file) user_error("{}: {}", path, std::strerror(errno));
  std::vector<Encoder> encoders(static_cast<size_t>(thread_count(threads)), Encoder(tokenizer));
  Summary summary;
  std::string line;
  while (file) {
    std::vector<std::string> texts;
    while (texts.size() < kBatch && std::getline(file, line)) {
      ++summary.documents;
      texts.push_back(document_of(line, path, summary.documents));
      summary.bytes += static_cast<int64_t>(texts.back().size());
    }
    std::vector<std::vector<int32_t>> ids(texts.size());
    const auto start = std::chrono::steady_clock::now();
    parallel_for(static_cast<int64_t>(texts.size()), threads, [&](int worker, int64_t i) {
      encoders[static_cast<size_t>(worker)].encode(texts[static_cast<size_t>(i)], ids[static_cast<size_t>(i)], enclose);
    });
    summary.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    for (const std::vector<int32_t>& document : ids) {
      summary.tokens += static_cast<int64_t>(document.size());
      if (!config.get_bool("summary")) fmt::print(invocation.surroundings.out, "{}\n", fmt::join(document, " "));
    }
  }
  if (file.bad()) user_error("{}: {}", path, std::strerror(errno));
  if (config.get_bool("summary")) {
    fmt::print(invocation.surroundings.out, "documents {}  bytes {}  tokens {}  seconds {:.3f}  MB/s {:.2f}\n",
               summary.documents, summary.bytes, summary.tokens, summary.seconds,
               static_cast<double>(summary.bytes) / 1e6 / std::max(summary.seconds, 1e-9));
  }
  return 0;
}

int encode(Invocation& invocation) {
  const Tokenizer tokenizer = Tokenizer::load(invocation.config.get_string("tokenizer"));
  if (!invocation.config.get_string("documents").empty()) {
    if (!invocation.arguments.empty()) user_error("give a text or --documents, not both");
    return encode_documents(invocation, tokenizer);
  }
  const std::string& text = single_argument(invocation, kTokenizerEncodeCommand, "the text");
  const auto enclose = invocation.config.get_bool("template") ? Template::Apply : Template::Leave;
  fmt::print(invocation.surroundings.out, "{}\n", fmt::join(tokenizer.encode(text, enclose), " "));
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
    "  tethys tokenizer train 'books/**/*.txt' --vocab_size 8192 --output tokenizer.json\n\n"
    "FILES are paths or globs (** goes through folders; quote them). The file is Hugging Face's tokenizer.json.\n",
    train_options,
    train,
};

const Command kTokenizerEncodeCommand{
    "tokenizer encode",
    "TEXT | --documents FILE [--tokenizer FILE]",
    "print the token ids of a text, or of many",
    "  tethys tokenizer encode 'def main():' --tokenizer tokenizer.json\n"
    "  tethys tokenizer encode --documents corpus.jsonl --summary\n\n"
    "FILE is Hugging Face's tokenizer.json of any byte-level BPE, such as Llama 3's or Qwen3's. The ids of each "
    "document\n"
    "are a line.\n",
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
