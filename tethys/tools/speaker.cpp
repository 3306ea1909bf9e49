#include "tools/speaker.h"

#include <fmt/format.h>

#include <ostream>

#include "base/number.h"
#include "config/config.h"
#include "data/tokenizer/text_stream.h"
#include "tools/command.h"
#include "tools/locations.h"
#include "tools/standard_error.h"
#include "train/fit.h"
#include "train/stop_texts.h"

namespace tethys {
namespace {

// Prints text as it comes, up to a text that ends it.
class Printer {
 public:
  Printer(std::ostream& out, const Tokenizer& tokenizer, const std::vector<std::string>& stops)
      : out_(out), stream_(tokenizer, Specials::Skip), stops_(stops) {}

  // Whether more is wanted.
  bool print(int32_t id) {
    show(stops_.push(stream_.push(id)));
    return !stops_.found();
  }
  std::string end() {
    show(stops_.push(stream_.rest()));
    show(stops_.rest());
    out_ << std::endl;
    return std::move(said_);
  }

 private:
  void show(const std::string& text) {
    out_ << text << std::flush;
    said_ += text;
  }

  std::ostream& out_;
  TextStream stream_;
  StopTexts stops_;
  std::string said_;
};

}  // namespace

Speaker::Speaker(const Config& config, const Surroundings& surroundings, Checkpoint& checkpoint,
                 const Tokenizer& tokenizer)
    : config_(config),
      surroundings_(surroundings),
      checkpoint_(checkpoint),
      tokenizer_(tokenizer),
      prepared_(tethys::prepare(config, machine_options(config, surroundings))) {
  check_parameters_fit(prepared_.setup, memory_of_devices(config), config, "training.mixed_precision_param");
}

void Speaker::prepare(int64_t prompt) {
  require_context(config_, prompt, "length");
  const int64_t length = prompt + config_.get_int("length");
  if (prompt > programs_.prompt_length || length > programs_.cache_length) {
    programs_ = compile_generation(*prepared_.executor, prepared_.setup, prompt, length);
    check_generation_fits(programs_, memory_of_devices(config_), length, config_);
  }
  if (parameters_.empty()) parameters_ = load_parameters(checkpoint_, *prepared_.executor, prepared_.setup);
}

std::string Speaker::say(const std::vector<int32_t>& prompt, const std::vector<int32_t>& ends,
                         std::string_view before) {
  prepare(static_cast<int64_t>(prompt.size()));
  surroundings_.out << before << std::flush;
  const Sampling sampling{.temperature = config_.get_float("temperature"),
                          .top_k = config_.get_int("top_k"),
                          .top_p = config_.get_float("top_p"),
                          .seed = static_cast<uint64_t>(config_.get_int("seed")),
                          .ends = ends,
                          .vocab_size = tokenizer_.vocab_size()};
  Printer printer(surroundings_.out, tokenizer_, config_.get_strings("stop"));
  Generator generator(*prepared_.executor, programs_, parameters_);
  const GenerationSpeed speed =
      generator.run(prompt, config_.get_int("length"), sampling, [&](int32_t id) { return printer.print(id); });
  speed_ = {speed_.prompt_tokens + speed.prompt_tokens, speed_.tokens + speed.tokens,
            speed_.prefill_seconds + speed.prefill_seconds, speed_.decode_seconds + speed.decode_seconds};
  return printer.end();
}

void Speaker::print_speed() const {
  std::string text = fmt::format("prefill: {} in {:.2f} s, {:.1f} tokens/s", counted(speed_.prompt_tokens, "token"),
                                 speed_.prefill_seconds, speed_.prompt_tokens / speed_.prefill_seconds);
  if (speed_.tokens > 0) {
    text += fmt::format("; decode: {} in {:.2f} s, {:.1f} tokens/s", counted(speed_.tokens, "token"),
                        speed_.decode_seconds, speed_.tokens / speed_.decode_seconds);
  }
  tell(text);
}

}  // namespace tethys
