// Generation: text from a trained model, one token after the other. The whole sequence, of a fixed length, is computed
// anew for each token.
//
//   Generator generator(executor, setup, parameters, 256);
//   std::vector<int32_t> ids = generator.run(prompt, {.temperature = 0.8, .seed = 1});
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "train/state.h"

namespace tethys {

struct Sampling {
  double temperature = 0;  // 0: always the likeliest token
  uint64_t seed = 0;
  std::optional<int32_t> end;  // the token that ends the text
  // Only lower ids are chosen: a model may have more of them than its tokenizer.
  int64_t vocab_size = std::numeric_limits<int64_t>::max();
};

// The index that the logits and a number in [0, 1) choose; of equals the lowest.
int32_t sample(std::span<const float> logits, double temperature, double uniform);

class Generator {
 public:
  // `length` counts prompt and what follows. Compiles here. The executor's mesh is one device.
  Generator(Executor& executor, const TrainingSetup& setup, std::vector<Array> parameters, int64_t length);

  // The prompt and what follows it, until `length` tokens are reached or the end token came, which is not included.
  std::vector<int32_t> run(std::vector<int32_t> prompt, const Sampling& sampling);

 private:
  Executor& executor_;
  std::vector<Array> parameters_;
  int64_t length_;
  Array positions_, segments_;
  std::shared_ptr<const CompiledProgram> program_;
};

}  // namespace tethys
