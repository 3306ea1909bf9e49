// What one option alone cannot say about a training configuration.
#include <algorithm>
#include <string>

#include "base/error.h"
#include "config/config.h"
#include "config/parameter_group.h"

namespace tethys {
namespace {

// The largest divisor of `whole` that is at most `limit`: a value that would work.
int64_t divisor_near(int64_t whole, int64_t limit) {
  int64_t divisor = std::min(whole, limit);
  while (whole % divisor != 0) --divisor;
  return divisor;
}

// Heads together are no wider than any other part of a model may be.
constexpr int64_t kWidestHeads = 1 << 20;

void check_given_head_dim(const Config& config) {
  const int64_t head_dim = config.get_int("model.head_dim"), heads = config.get_int("model.n_heads");
  if (head_dim % 2 != 0) {
    user_error("{} is odd, and rotary positions need an even size; {} would work", config.cite("model.head_dim"),
               head_dim + 1);
  }
  if (head_dim * heads > kWidestHeads) {
    user_error("{} and {} make attention {} wide; at most {} is supported", config.cite("model.n_heads"),
               config.cite("model.head_dim"), head_dim * heads, kWidestHeads);
  }
}

void check_shared_width(const Config& config) {
  const int64_t dim = config.get_int("model.dim"), heads = config.get_int("model.n_heads");
  if (dim % heads != 0) {
    user_error("{} does not divide {}; {} heads would, or set model.head_dim", config.cite("model.n_heads"),
               config.cite("model.dim"), divisor_near(dim, heads));
  }
  if (dim / heads % 2 != 0) {
    user_error("{} over {} makes heads of {}, and rotary positions need an even size; use a width of {}",
               config.cite("model.dim"), config.cite("model.n_heads"), dim / heads, heads * (dim / heads + 1));
  }
}

void check_model(const Config& config) {
  const int64_t heads = config.get_int("model.n_heads"), kv_heads = config.get_int("model.n_kv_heads");
  config.get_int("model.head_dim") == 0 ? check_shared_width(config) : check_given_head_dim(config);
  if (heads % kv_heads != 0) {
    user_error("{} does not divide {}; {} key and value heads would", config.cite("model.n_kv_heads"),
               config.cite("model.n_heads"), divisor_near(heads, kv_heads));
  }
  const int64_t experts = config.get_int("model.n_experts");
  if (experts > 0 && config.get_int("model.experts_per_token") > experts) {
    user_error("{} is more than {}; at most all are chosen", config.cite("model.experts_per_token"),
               config.cite("model.n_experts"));
  }
  if (config.get_float("model.rope_scaling_low") >= config.get_float("model.rope_scaling_high")) {
    user_error("{} must be below {}", config.cite("model.rope_scaling_low"), config.cite("model.rope_scaling_high"));
  }
}

void check_remat(const Config& config) {
  const std::string& remat = config.get_string("graph.remat");
  const std::vector<std::string>& saved = config.get_strings("graph.remat_save");
  const std::vector<std::string>& offloaded = config.get_strings("graph.remat_offload");
  if (remat == "selective" ? saved.empty() && offloaded.empty() : !saved.empty()) {
    user_error("{} and {} do not go together; selective remat needs the names to save, and only it reads them",
               config.cite("graph.remat"), config.cite("graph.remat_save"));
  }
  for (const std::string& name : offloaded) {
    if (remat == "full" && name != "layer_input")
      user_error("{} names {}, and with {} nothing but layer_input is kept; use --graph.remat selective",
                 config.cite("graph.remat_offload"), name, config.cite("graph.remat"));
    if (std::find(saved.begin(), saved.end(), name) != saved.end())
      user_error("{} and {} both name {}; an activation is kept in one place", config.cite("graph.remat_save"),
                 config.cite("graph.remat_offload"), name);
  }
  if (!config.get_bool("graph.split_offload")) return;
  if (!config.get_bool("graph.scan_layers"))
    user_error("{} needs --graph.scan_layers; without the loop over layers there is no layer to bring back at a time",
               config.cite("graph.split_offload"));
  const std::string& mode = config.get_string("graph.mode");
  if (mode != "graph" && mode != "compile")
    user_error("{} needs --mode graph or compile, this is {}", config.cite("graph.split_offload"),
               config.cite("graph.mode"));
}

void check_training(const Config& config) {
  if (config.get_int("training.seq_len") > config.get_int("model.context_length")) {
    user_error("{} is longer than {}; use rows of at most {} tokens", config.cite("training.seq_len"),
               config.cite("model.context_length"), config.get_int("model.context_length"));
  }
  const int64_t global = config.get_int("training.global_batch_size");
  const int64_t local = config.get_int("training.local_batch_size");
  if (global > 0 && global % local != 0) {
    user_error("{} is not a multiple of {}; {} would be", config.cite("training.global_batch_size"),
               config.cite("training.local_batch_size"), (global / local + 1) * local);
  }
  check_remat(config);
  if (!config.get_strings("data.text").empty() && !config.get_string("data.tokens").empty()) {
    user_error("{} and {} are both set; a run reads one of them", config.cite("data.text"), config.cite("data.tokens"));
  }
  if (config.get_bool("data.chats") && !config.get_string("data.tokens").empty()) {
    user_error("{}: chats are of data.text, and {} are tokens already; drop one of them", config.cite("data.chats"),
               config.cite("data.tokens"));
  }
  const bool holds_out = config.get_float("data.holdout") > 0 || !config.get_string("data.tokens").empty();
  if (config.get_bool("validation.enable") && !holds_out) {
    user_error("{} needs documents that are held out, and {}; hold out a share, such as --data.holdout 0.01",
               config.cite("validation.enable"), config.cite("data.holdout"));
  }
}

void check_executable(const Config& config) {
  if (config.get_string("device.executable").empty()) return;
  for (const char* option : {"graph.mode", "graph.split_offload"}) {
    const bool one =
        option == std::string("graph.mode") ? config.get_string(option) == "graph" : !config.get_bool(option);
    if (!one) {
      user_error("{} is the whole step as one program, and {}; leave one of them out", config.cite("device.executable"),
                 config.cite(option));
    }
  }
}

void check_profiling(const Config& config) {
  if (!config.get_bool("profiling.enable_profiling")) return;
  const int64_t steps = config.get_int("training.steps");
  if (config.get_int("profiling.profiler_warmup") < steps) return;
  user_error("{} leaves none of {} to trace; a warm-up of {} would", config.cite("profiling.profiler_warmup"),
             config.cite("training.steps"), std::min<int64_t>(steps - 1, 1));
}

// Outside of the run's folder, or in the place of its files, a run would end another's or fail at its first save.
void check_checkpoint_folder(const Config& config) {
  const std::string& folder = config.get_string("checkpoint.folder");
  for (const char* taken : {"", ".", "..", "config.toml", "log.txt", "metrics.jsonl", "loss.png", "profile", ".lock"}) {
    if (folder == taken) user_error("{} is no free name in the output folder", config.cite("checkpoint.folder"));
  }
  if (folder.find('/') != std::string::npos) {
    user_error("{} is no name of a folder inside the output folder: it has a slash", config.cite("checkpoint.folder"));
  }
}

void check_initial_load(const Config& config) {
  if (config.get_string("checkpoint.initial_load_path").empty() &&
      !config.get_strings("checkpoint.exclude_from_loading").empty()) {
    user_error("{} needs a checkpoint to load from: --checkpoint.initial_load_path PATH",
               config.cite("checkpoint.exclude_from_loading"));
  }
  if (config.get_string("checkpoint.export_dtype") != "float32" &&
      !config.get_bool("checkpoint.last_save_model_only")) {
    user_error("{} is that of a last save of the parameters alone: add --checkpoint.last_save_model_only",
               config.cite("checkpoint.export_dtype"));
  }
  if (!config.get_bool("checkpoint.initial_load_in_hf")) return;
  if (!config.get_string("checkpoint.initial_load_path").empty()) return;
  user_error("{} needs the folder: --checkpoint.initial_load_path FOLDER",
             config.cite("checkpoint.initial_load_in_hf"));
}

}  // namespace

int64_t head_dim_of(const Config& config) {
  const int64_t given = config.get_int("model.head_dim");
  return given != 0 ? given : config.get_int("model.dim") / config.get_int("model.n_heads");
}

void check_config(const Config& config) {
  check_model(config);
  check_training(config);
  check_checkpoint_folder(config);
  check_initial_load(config);
  check_executable(config);
  check_profiling(config);
  parameter_groups(config);
  for (const std::string& option : config.get_strings("device.compile_options")) {
    if (option.find('=') == 0 || option.find('=') == std::string::npos) {
      user_error("{}: compile option \"{}\" is not of the form NAME=VALUE",
                 config.origin("device.compile_options").place, option);
    }
  }
}

}  // namespace tethys
