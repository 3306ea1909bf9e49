// tethys generate: a trained model goes on with a text, or answers in a chat.
#include <algorithm>
#include <istream>
#include <ostream>

#include "base/error.h"
#include "base/file.h"
#include "data/chat/chat_encoder.h"
#include "data/sources/lines.h"
#include "tools/commands.h"
#include "tools/model.h"
#include "tools/speaker.h"
#include "tools/xla_flags.h"
#include "train/corpus.h"

namespace tethys {
namespace {

std::vector<Option> options() {
  Option stop = text_list_option("stop", {}, "end before this text; may be given several times");
  stop.repeats = true;
  return with_training_options({
      text_option("prompt", "", "the text to go on from"),
      text_option("prompt_file", "", "a file that holds it"),
      bool_option("chat", false,
                  "the prompt is a question, put as the model's chats are, and the answer alone is printed; without a "
                  "prompt each line of the standard input is a question"),
      text_option("system", "", "what a chat begins with, as its system message; means --chat"),
      text_option("messages", "", "JSON file of a chat that is gone on with, as a line of data.chats; means --chat"),
      bool_option("thinking", true, "in a chat a model that has thoughts may think before it answers"),
      int_option("length", 256, at_least(1), "tokens to add at most"),
      float_option("temperature", 0.0, at_least(0), "0: always the likeliest token; 1: as the model says"),
      int_option("top_k", 0, at_least(0), "choose among so many of the likeliest tokens only; 0: among all"),
      float_option("top_p", 1.0, {.low = 0, .high = 1, .open_low = true},
                   "choose among the fewest of the likeliest tokens that have this share of the probability"),
      int_option("seed", 0, at_least(0), "of the choice of tokens"),
      std::move(stop),
      recipe_option(),
  });
}

constexpr const char* kPlace = "tethys generate";

const char* dtype_option(DType dtype) {
  if (dtype == DType::F64) return "float64";
  return dtype == DType::BF16 ? "bfloat16" : "float32";
}

// One device, and no wider weights than the model computes with.
void take_what_speaks(Config& config) {
  take_one_device(config, kPlace);
  const Origin origin{Origin::Source::Flag, kPlace};
  const std::string compute = dtype_option(precision_of(config).compute);
  config.set("training.dtype", compute, origin);
  config.set("training.mixed_precision_param", compute, origin);
  config.set("training.seq_len", int64_t{1}, origin);  // the length of rows says nothing here
}

// Empty where none is given.
std::string read_prompt(const Config& config) {
  const std::string& text = config.get_string("prompt");
  const std::string& file = config.get_string("prompt_file");
  if (file.empty()) return text;
  if (!text.empty()) {
    user_error("{} and {}: give one of them", config.cite("prompt"), config.cite("prompt_file"));
  }
  std::string read = read_input(file, kLongestLine);
  if (read.empty()) user_error("{}: the file is empty; it must hold the prompt", config.cite("prompt_file"));
  return read;
}

bool is_chat(const Config& config) {
  return config.get_bool("chat") || !config.get_string("system").empty() || !config.get_string("messages").empty();
}

// A flag that says nothing was to say something: its text came from a variable that is not set, say.
void check_prompt(const Config& config) {
  const bool is_empty_flag =
      config.origin("prompt").source == Origin::Source::Flag && config.get_string("prompt").empty();
  if (!is_empty_flag || !is_chat(config)) return;
  user_error("{}: the question is empty; without the flag they are read from the standard input",
             config.cite("prompt"));
}

void check_stops(const Config& config) {
  for (const std::string& stop : config.get_strings("stop")) {
    if (stop.empty()) user_error("{}: every text holds the empty one; give a text to stop at", config.cite("stop"));
  }
}

void check_thinking(const Config& config) {
  if (config.get_bool("thinking") || is_chat(config)) return;
  user_error("{}: thoughts are of chats; give --chat too", config.cite("thinking"));
}

// What is said before the first answer; it ends with a question, unless the standard input is to ask.
Conversation read_chat(const Config& config, const std::string& prompt) {
  Conversation chat;
  const std::string &system = config.get_string("system"), &file = config.get_string("messages");
  if (!file.empty()) chat = read_conversation(file);
  if (!system.empty()) {
    if (!chat.empty() && chat[0].role == Role::System) {
      user_error("{}: {} begins with a system message already", config.cite("system"), file);
    }
    chat.insert(chat.begin(), {Role::System, system});
  }
  if (!prompt.empty()) chat.push_back({Role::User, prompt});
  return chat;
}

std::vector<int32_t> encode_prompt(const Tokenizer& tokenizer, const std::string& text) {
  std::vector<int32_t> prompt = tokenizer.encode(text);
  if (prompt.empty()) user_error("there is no text to go on from: give --prompt TEXT or --prompt_file FILE");
  return prompt;
}

// The next question of the standard input; nothing at its end.
std::optional<std::string> next_question(const Surroundings& surroundings) {
  std::string line;
  do {
    if (surroundings.is_typed) surroundings.out << "> " << std::flush;
    if (!std::getline(surroundings.in, line)) {
      if (surroundings.is_typed) surroundings.out << std::endl;
      return std::nullopt;
    }
  } while (line.find_first_not_of(" \t\r") == std::string::npos);
  return line;
}

// Holds a chat that goes on with an answer, or else with the questions of the standard input.
class Chat {
 public:
  Chat(const Config& config, const Tokenizer& tokenizer, const std::string& prompt)
      : thinking_(config.get_bool("thinking") ? Thinking::Allow : Thinking::Skip),
        encoder_(tokenizer),
        ends_(tokenizer.stops()),
        said_(read_chat(config, prompt)) {
    ends_.push_back(encoder_.end_of_turn());
  }

  // UserError if it is clear already that nothing is asked. It waits for the standard input where that is what asks.
  void check(const Surroundings& surroundings) const {
    const bool asks = has_question() || surroundings.is_typed;
    if (!asks && surroundings.in.peek() == std::istream::traits_type::eof()) no_question();
  }

  void run(Speaker& speaker, const Surroundings& surroundings) {
    if (has_question()) return answer(speaker);
    bool asked = false;
    for (; const std::optional<std::string> question = next_question(surroundings); asked = true) {
      said_.push_back({Role::User, *question});
      answer(speaker);
    }
    if (!asked) no_question();
  }

 private:
  bool has_question() const { return !said_.empty() && said_.back().role == Role::User; }

  [[noreturn]] void no_question() const {
    const bool answered = !said_.empty() && said_.back().role == Role::Assistant;
    user_error("there is no question{}: give --prompt TEXT, --prompt_file FILE, or lines of standard input",
               answered ? " after the last message of --messages, which is the assistant's" : "");
  }

  void answer(Speaker& speaker) {
    std::vector<int32_t> question;
    encoder_.encode_question(said_, thinking_, question);
    said_.push_back({Role::Assistant, speaker.say(question, ends_)});
  }

  Thinking thinking_;
  ChatEncoder encoder_;
  std::vector<int32_t> ends_;
  Conversation said_;
};

int run(Invocation& invocation) {
  Config& config = invocation.config;
  check_stops(config);
  check_prompt(config);
  const std::string text = read_prompt(config);
  check_thinking(config);
  Checkpoint checkpoint =
      open_model(invocation, single_argument(invocation, kGenerateCommand, "the model"), take_what_speaks);
  check_xla_flags(config, invocation.surroundings);
  if (config.get_string("data.tokenizer").empty()) {
    user_error("the model brings no tokenizer; give --data.tokenizer FILE");
  }
  const Tokenizer tokenizer = load_tokenizer(config);
  std::optional<Chat> chat;
  std::vector<int32_t> prompt;
  if (is_chat(config)) {
    chat.emplace(config, tokenizer, text);
    chat->check(invocation.surroundings);
  } else {
    prompt = encode_prompt(tokenizer, text);
  }
  try {
    Speaker speaker(config, invocation.surroundings, checkpoint, tokenizer);
    if (chat) {
      chat->run(speaker, invocation.surroundings);
    } else {
      speaker.say(prompt, tokenizer.stops(), text);
    }
    speaker.print_speed();
  } catch (const pjrt::PjrtError& error) {
    blame_compile_options(config, error);
    throw;
  }
  return 0;
}

}  // namespace

const Command kGenerateCommand{
    "generate",
    "RUN | CHECKPOINT | HUGGING_FACE_FOLDER (--prompt TEXT | --chat) [--section.option VALUE]…",
    "let a trained model go on with a text, or answer questions",
    "  tethys generate outputs/llama3_debugmodel --prompt 'def main('\n"
    "  tethys generate outputs/llama3_debugmodel --prompt_file a.py --temperature 0.8 --top_p 0.95 --seed 3\n"
    "  tethys generate outputs/llama3_debugmodel --prompt 'def main(' --stop $'\\n\\n' --stop 'def '\n"
    "  tethys generate outputs/chat --chat --prompt 'What floats?' --system 'Be brief.'\n"
    "  tethys generate outputs/chat --chat                                       a question a line\n"
    "  tethys generate Llama-3.2-1B-Instruct --chat --prompt 'What floats?'\n"
    "  tethys generate outputs/chat/checkpoint/step-00001000 --prompt Once\n"
    "  tethys generate step-00001000 --recipe llama3_8b --data.tokenizer tokenizer.json --prompt Once\n\n"
    "Of a run the newest checkpoint speaks. A run and a Hugging Face folder bring their tokenizer. The model goes on\n"
    "until the end of a text, a text of --stop, or --length tokens; with --chat it answers, until the end of its\n"
    "turn. The same seed says the same. The speed is printed to standard error.\n",
    options,
    run,
};

}  // namespace tethys
