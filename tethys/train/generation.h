// Generation: text from a trained model, one token after the other, by two programs that keep the keys and values of
// what was read: prefill reads the prompt, decode one token more. Lengths are rounded up to powers of two, so that few
// programs serve all prompts.
//
//   GenerationPrograms programs = compile_generation(executor, setup, prompt.size(), 256);
//   Generator generator(executor, programs, parameters);
//   generator.run(prompt, 200, {.temperature = 0.8, .seed = 1}, [&](int32_t id) { return show(id); });
//
// The mesh is one device, and the setup's layers are neither scanned nor recomputed. One thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "train/sampling.h"
#include "train/state.h"

namespace tethys {

struct GenerationPrograms {
  int64_t prompt_length = 0;  // tokens that prefill takes
  int64_t cache_length = 0;   // tokens that the cache holds
  // Both give the logits [V] of what follows, and the cache: keys and values of each layer.
  std::shared_ptr<const CompiledProgram> prefill;  // parameters, tokens s32 [1, prompt_length], place s32[] of the last
  std::shared_ptr<const CompiledProgram> decode;   // parameters, token s32 [1, 1], its place s32[], the cache (donated)

  // The most that one device holds at a time.
  int64_t bytes() const;
};

// However a model was trained, text is made on one device, layer by layer. `place` is what asks for it.
void take_one_device(Config& config, const std::string& place);

// UserError if `prompt` tokens and as many more as the option says are more than the model takes.
void require_context(const Config& config, int64_t prompt, const std::string& length_option);

// For prompts of up to `prompt` tokens and texts of up to `length`, the prompt's included.
GenerationPrograms compile_generation(Executor& executor, const TrainingSetup& setup, int64_t prompt, int64_t length);

struct GenerationSpeed {
  int64_t prompt_tokens = 0, tokens = 0;  // read at once; run one by one
  double prefill_seconds = 0, decode_seconds = 0;
};

class Generator {
 public:
  Generator(Executor& executor, GenerationPrograms programs, std::vector<Array> parameters);

  // Begins a text. The logits of what follows it, at least in float32.
  std::vector<double> prefill(std::span<const int32_t> prompt);
  // Goes on by a token. A text is no longer than the programs take.
  std::vector<double> decode(int32_t token);

  // Goes on with a prompt by at most `tokens` tokens, and tells each as it is chosen, until an end token comes, which
  // is not told, or `tell` says false.
  GenerationSpeed run(std::span<const int32_t> prompt, int64_t tokens, const Sampling& sampling,
                      const std::function<bool(int32_t)>& tell);

 private:
  std::vector<double> keep(std::vector<Array> results);

  Executor& executor_;
  GenerationPrograms programs_;
  std::vector<Array> parameters_;
  std::vector<Array> cache_;
  int64_t known_ = 0;  // tokens in the cache
};

}  // namespace tethys
