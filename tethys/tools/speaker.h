// Speaker: a trained model that goes on with prompts and prints what it says as it comes. Its programs are compiled and
// its weights loaded when it first speaks, and compiled anew for a text that is longer than all before.
//
//   Speaker speaker(config, surroundings, checkpoint, tokenizer);
//   std::string said = speaker.say(tokenizer.encode("Once upon"), tokenizer.stops());
//   speaker.print_speed();
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/store.h"
#include "data/tokenizer/tokenizer.h"
#include "train/generation.h"
#include "train/prepared.h"

namespace tethys {

struct Surroundings;

class Speaker {
 public:
  // Of the configuration the options of `tethys generate` and of the model on one device. All four must outlive it.
  Speaker(const Config& config, const Surroundings& surroundings, Checkpoint& checkpoint, const Tokenizer& tokenizer);

  // Prints what follows a prompt, until one of `ends`, a text of --stop or --length tokens, and gives it; `before` is
  // printed first. UserError if the text could be longer than the model takes, DoesNotFitError if it does not fit into
  // memory.
  std::string say(const std::vector<int32_t>& prompt, const std::vector<int32_t>& ends, std::string_view before = "");

  // Of all that was said, to standard error.
  void print_speed() const;

 private:
  void prepare(int64_t prompt);

  const Config& config_;
  const Surroundings& surroundings_;
  Checkpoint& checkpoint_;
  const Tokenizer& tokenizer_;
  Prepared prepared_;
  GenerationPrograms programs_;
  std::vector<Array> parameters_;
  GenerationSpeed speed_;
};

}  // namespace tethys
