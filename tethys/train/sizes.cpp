#include "train/sizes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "config/config.h"

namespace tethys {
namespace {

// Half of what 64 bits with a sign count, so that a sum of two still does.
constexpr double kMost = 0x1p62;
constexpr double kWidestNumber = 8;  // bytes

struct Size {
  const char* what;
  double count;
  std::vector<const char*> options;  // that make it so large
};

}  // namespace

void check_sizes(const Config& config, const BatchShape& shape) {
  const auto of = [&](const char* option) { return static_cast<double>(config.get_int(option)); };
  const double rows = static_cast<double>(shape.rows), length = of("training.seq_len");
  const double step = rows * length * static_cast<double>(shape.microbatches);
  const char* batch =
      config.get_int("training.global_batch_size") > 0 ? "training.global_batch_size" : "training.local_batch_size";
  const bool dense = config.get_int("model.n_experts") == 0;
  const double assignments = dense ? 0 : rows * length * of("model.experts_per_token");
  const Size sizes[] = {
      {"tokens in the run", step * of("training.steps"), {"training.steps", batch, "training.seq_len"}},
      {"bytes of logits",
       rows * length * of("model.vocab_size") * kWidestNumber,
       {batch, "training.seq_len", "model.vocab_size"}},
      {"bytes of attention scores",
       rows * of("model.n_heads") * length * length * kWidestNumber,
       {batch, "training.seq_len", "model.n_heads"}},
      {"bytes of activations of heads",
       rows * length * of("model.n_heads") * static_cast<double>(head_dim_of(config)) * kWidestNumber,
       {batch, "training.seq_len", "model.n_heads", "model.head_dim"}},
      {"bytes of activations in a feed-forward",
       dense ? rows * length * of("model.ffn_dim") * kWidestNumber : 0,
       {batch, "training.seq_len", "model.ffn_dim"}},
      {"bytes of activations in the experts",
       assignments * std::max(of("model.dim"), of("model.expert_ffn_dim")) * kWidestNumber,
       {batch, "training.seq_len", "model.experts_per_token", "model.dim", "model.expert_ffn_dim"}},
      {"bytes of which experts tokens go to",
       assignments * of("model.n_experts") * kWidestNumber,
       {batch, "training.seq_len", "model.experts_per_token", "model.n_experts"}},
      {"bytes of experts' weights",
       of("model.n_layers") * of("model.n_experts") * of("model.expert_ffn_dim") * of("model.dim") * kWidestNumber,
       {"model.n_layers", "model.n_experts", "model.expert_ffn_dim", "model.dim"}},
      {"bytes of activations between the layers",
       of("model.n_layers") * rows * length * of("model.dim") * kWidestNumber,
       {batch, "training.seq_len", "model.n_layers", "model.dim"}},
  };
  for (const Size& size : sizes) {
    if (size.count <= kMost) continue;
    std::vector<std::string> cited;
    for (const char* option : size.options) cited.push_back(config.cite(option));
    user_error("{} make {:.2g} {}, more than can be counted; lower them", fmt::join(cited, ", "), size.count,
               size.what);
  }
}

}  // namespace tethys
