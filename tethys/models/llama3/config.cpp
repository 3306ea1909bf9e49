#include "models/llama3/config.h"

#include <cmath>

#include "models/transformer_options.h"

namespace tethys {
namespace {

// Most weights are so narrow that the cut at ±2 is never met; it is there in torchtitan, whose rule this is.
InitialValue narrow(double std) { return truncated_normal(std, 2); }

std::unique_ptr<TransformerBlockConfig> block(const Config& config, int64_t layer) {
  const InitialValue in = narrow(0.02);
  const InitialValue residual = narrow(0.02 / std::sqrt(2.0 * static_cast<double>(layer + 1)));
  return block_of(config, attention_of(config, in, residual), feed_forward_of(config, in, residual, residual));
}

}  // namespace

std::unique_ptr<LanguageModelConfig> llama_config(const Config& config) {
  const double output_std = 1 / std::sqrt(static_cast<double>(config.get_int("model.dim")));
  const InitialValue output = truncated_normal(output_std, 3 * output_std);
  const InitialValue embedding = config.get_bool("model.tie_embeddings") ? output : normal(1);
  return transformer_of(config, embedding, output, [&](int64_t layer) { return block(config, layer); });
}

}  // namespace tethys
