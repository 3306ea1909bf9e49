// tethys generate: text from a checkpoint.
#include <algorithm>
#include <istream>
#include <ostream>

#include "base/error.h"
#include "base/file.h"
#include "config/recipe.h"
#include "data/chat/chat_encoder.h"
#include "tools/commands.h"
#include "tools/locations.h"
#include "tools/speaker.h"
#include "train/corpus.h"
#include "train/hugging_face.h"
#include "train/hugging_face_config.h"
#include "train/run_folder.h"

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
      text_option("checkpoint", "", "checkpoint, folder of checkpoints or run; empty: the newest of RUN"),
  });
}

// Loads the configuration of a run, a recipe or a Hugging Face folder, and gives where the weights are.
Path load_model(Invocation& invocation) {
  const std::string& given = single_argument(invocation, kGenerateCommand, "the model");
  const std::string& checkpoint = invocation.config.get_string("checkpoint");
  if (is_hugging_face_folder(given)) {
    if (!checkpoint.empty()) {
      user_error("{}: {} is a Hugging Face folder, which brings its own weights", invocation.config.cite("checkpoint"),
                 given);
    }
    load_run_recipe(invocation.config, given, {});
    return given;
  }
  const Path run_config = Path(given) / "config.toml";
  std::error_code ignored;
  if (std::filesystem::is_regular_file(run_config, ignored)) {
    load_recipe(invocation.config, run_config.string(), {});
    return find_checkpoint_of(checkpoint.empty() ? given : checkpoint);
  }
  if (checkpoint.empty()) {
    user_error(
        "{} is no folder of a run (there is no {}) nor of Hugging Face (there is no config.json); give one, or a "
        "recipe "
        "with --checkpoint PATH",
        given, run_config.string());
  }
  load_recipe(invocation.config, given, recipes_folder(invocation.surroundings.executable));
  return find_checkpoint_of(checkpoint);
}

constexpr const char* kPlace = "tethys generate";

const char* dtype_option(DType dtype) {
  if (dtype == DType::F64) return "float64";
  return dtype == DType::BF16 ? "bfloat16" : "float32";
}

// No wider weights are kept than the model computes with.
void take_compute_dtype(Config& config) {
  const Origin origin{Origin::Source::Flag, kPlace};
  const std::string compute = dtype_option(precision_of(config).compute);
  config.set("training.dtype", compute, origin);
  config.set("training.mixed_precision_param", compute, origin);
  config.set("training.seq_len", int64_t{1}, origin);  // the length of rows says nothing here
}

std::string read_prompt(const Config& config) {
  const std::string& text = config.get_string("prompt");
  const std::string& file = config.get_string("prompt_file");
  if (file.empty()) return text;
  if (!text.empty()) {
    user_error("{} and {}: give one of them", config.cite("prompt"), config.cite("prompt_file"));
  }
  return read_file(file);
}

void check_stops(const Config& config) {
  for (const std::string& stop : config.get_strings("stop")) {
    if (stop.empty()) user_error("{}: every text holds the empty one; give a text to stop at", config.cite("stop"));
  }
}

bool is_chat(const Config& config) {
  return config.get_bool("chat") || !config.get_string("system").empty() || !config.get_string("messages").empty();
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

  void run(Speaker& speaker, const Surroundings& surroundings) {
    if (!said_.empty() && said_.back().role == Role::User) return answer(speaker);
    bool asked = false;
    for (; const std::optional<std::string> question = next_question(surroundings); asked = true) {
      said_.push_back({Role::User, *question});
      answer(speaker);
    }
    if (!asked) user_error("there is no question: give --prompt TEXT, --prompt_file FILE, or lines of standard input");
  }

 private:
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
  const std::string text = read_prompt(config);
  const Path path = load_model(invocation);
  take_one_device(config, kPlace);
  take_compute_dtype(config);
  check_config(config);
  if (config.get_string("data.tokenizer").empty()) {
    user_error("the model brings no tokenizer; give --data.tokenizer FILE");
  }
  const Tokenizer tokenizer = load_tokenizer(config);
  std::optional<Chat> chat;
  std::vector<int32_t> prompt;
  is_chat(config) ? void(chat.emplace(config, tokenizer, text)) : void(prompt = encode_prompt(tokenizer, text));
  try {
    Checkpoint checkpoint = is_hugging_face_folder(path) ? open_hugging_face(path, config) : Checkpoint(path);
    Speaker speaker(config, invocation.surroundings, checkpoint, tokenizer);
    chat ? chat->run(speaker, invocation.surroundings) : void(speaker.say(prompt, tokenizer.stops(), text));
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
    "RUN | HUGGING_FACE_FOLDER (--prompt TEXT | --prompt_file FILE | --chat) [--section.option VALUE]…",
    "let a trained model go on with a text",
    "  tethys generate outputs/llama3_debugmodel --prompt 'def main('\n"
    "  tethys generate outputs/llama3_debugmodel --prompt_file a.py --temperature 0.8 --top_p 0.95 --seed 3\n"
    "  tethys generate outputs/llama3_debugmodel --prompt 'def main(' --stop $'\\n\\n' --stop 'def '\n"
    "  tethys generate outputs/chat --chat --prompt 'What floats?' --system 'Be brief.'\n"
    "  tethys generate outputs/chat --chat                                       a question a line\n"
    "  tethys generate Llama-3.2-1B-Instruct --chat --prompt 'What floats?'\n"
    "  tethys generate llama3_8b --checkpoint step-00001000 --data.tokenizer tokenizer.json --prompt Once\n\n"
    "RUN is the folder of a run, whose newest checkpoint speaks, with its tokenizer, until the end of a text or turn, "
    "a "
    "text\n"
    "of --stop, or --length tokens. The same seed says the same. The speed is printed to standard error.\n",
    options,
    run,
};

}  // namespace tethys
