// tethys tokenizer train | encode | decode
#include "data/tokenizer/tokenizer.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <charconv>
#include <iterator>

#include "base/error.h"
#include "data/sources/text.h"
#include "data/tokenizer/train_bpe.h"
#include "tools/commands.h"

namespace tethys {
namespace {

std::vector<Option> train_options() {
  return {
      int_option("vocab_size", 2048, at_least(257), "number of tokens, the 256 bytes and the end of text included"),
      text_option("output", "tokenizer.json", "the file to write"),
      int_option("threads", 0, at_least(0), "threads to use; 0: all of the machine's"),
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
  const Tokenizer tokenizer(train_bpe(files, training));
  const std::string& output = invocation.config.get_string("output");
  const Path folder = Path(output).parent_path();
  if (!folder.empty()) make_directories(folder);
  tokenizer.save(output);
  fmt::print(invocation.surroundings.out, "{}: {} tokens, from {} files\n", output, tokenizer.vocab_size(),
             files.size());
  return 0;
}

std::vector<Option> coding_options() {
  return {text_option("tokenizer", "tokenizer.json", "the tokenizer.json to use")};
}

int encode(Invocation& invocation) {
  const Tokenizer tokenizer = Tokenizer::load(invocation.config.get_string("tokenizer"));
  const std::string& text = single_argument(invocation, kTokenizerEncodeCommand, "the text");
  fmt::print(invocation.surroundings.out, "{}\n", fmt::join(tokenizer.encode(text), " "));
  return 0;
}

int32_t parse_id(const std::string& text) {
  int32_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc() || end != text.data() + text.size())
    user_error("'{}' is no token id: expected an int", text);
  return id;
}

int decode(Invocation& invocation) {
  const Tokenizer tokenizer = Tokenizer::load(invocation.config.get_string("tokenizer"));
  std::vector<int32_t> ids;
  for (const std::string& text : invocation.arguments) ids.push_back(parse_id(text));
  fmt::print(invocation.surroundings.out, "{}\n", tokenizer.decode(ids));
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
    "TEXT [--tokenizer FILE]",
    "print the token ids of a text",
    "  tethys tokenizer encode 'def main():' --tokenizer tokenizer.json\n",
    coding_options,
    encode,
};

const Command kTokenizerDecodeCommand{
    "tokenizer decode",
    "ID… [--tokenizer FILE]",
    "print the text of token ids",
    "  tethys tokenizer decode 267 310 12 --tokenizer tokenizer.json\n",
    coding_options,
    decode,
};

}  // namespace tethys
