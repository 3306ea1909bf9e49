#include "train/helpful_flags.h"

#include <fmt/format.h>

#include "config/config.h"
#include "train/fit.h"

namespace tethys {

std::vector<std::string> helpful_flags(const Config& config, const TrainingSetup& setup) {
  const int64_t batch = config.get_int("training.local_batch_size"), length = config.get_int("training.seq_len");
  const bool stays_divisible = config.get_int("training.global_batch_size") == -1 || batch % 2 == 0;
  // Virtual devices share the memory: more of them take no less.
  const bool shared = config.get_string("device.platform") == "cpu";
  const std::string& remat = config.get_string("graph.remat");
  struct Flag {
    const char* option;
    std::string value;
    bool helps;
    const char* why;
  };
  const Flag flags[] = {
      {"graph.remat", "full", remat != "full", "activations are computed again"},
      {"graph.scan_layers", "", !config.get_bool("graph.scan_layers"), "layers are one loop, and share their memory"},
      {"kernels.attention", "chunked", config.get_string("kernels.attention") == "reference",
       "scores are never held as a whole"},
      {"kernels.loss", "chunked", config.get_string("kernels.loss") == "reference", "logits are never held as a whole"},
      {"training.local_batch_size", std::to_string(batch / 2), batch > 1 && stays_divisible, "fewer activations"},
      {"training.seq_len", std::to_string(length / 2), length > 1, "fewer activations"},
      {"graph.remat_offload", "layer_input",
       !shared && remat == "full" && config.get_strings("graph.remat_offload").empty(),
       "the inputs of layers wait in the host's memory"},
      {"parallelism.data_parallel_replicate_degree", "1", setup.degrees.replicate > 1,
       "with a larger parallelism.data_parallel_shard_degree state is sharded further"},
      {"parallelism.tensor_parallel_degree", std::to_string(2 * setup.degrees.tensor), !shared,
       "with parallelism.enable_sequence_parallel a device has fewer activations"},
      {"parallelism.context_parallel_degree", std::to_string(2 * setup.degrees.context), !shared && length > 1,
       "a device has fewer tokens of each row"},
      {"parallelism.fsdp_reshard_after_forward", "always",
       config.get_string("parallelism.fsdp_reshard_after_forward") == "never", "gathered weights are not kept"},
      {"parallelism.fsdp_gather", "parameter", setup.gathers.by_block, "gathered weights are fewer at a time"},
      {"checkpoint.async_mode", "none", shared && save_copy_bytes(setup, config) > 0,
       "steps wait for saves, and no copy of the state is held meanwhile"},
  };
  std::vector<std::string> texts;
  for (const Flag& flag : flags) {
    if (!flag.helps) continue;
    texts.push_back(fmt::format("--{}{}{}: {}", flag.option, flag.value.empty() ? "" : " ", flag.value, flag.why));
  }
  return texts;
}

}  // namespace tethys
