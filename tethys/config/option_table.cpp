#include "config/option_table.h"

#include <iterator>
#include <string_view>
#include <utility>

#include "config/kernel_choices.h"

namespace tethys {
namespace {

// More than any cluster or model has, and small enough that few products of them overflow: set_up checks those.
constexpr double kMostDevices = 65536;
constexpr double kMostLayers = 10000;
constexpr double kMostHeads = 65536;
constexpr double kWidest = 1 << 20;
constexpr double kLongest = 1 << 24;  // tokens of a row
constexpr double kMostExperts = 1 << 16;
constexpr double kMostTokenIds = 1 << 24;
constexpr double kMostRows = 1 << 20;  // of a device
constexpr double kMostSteps = 1e9;     // a device counts them in 32 bits

using Options = std::vector<Option>;

Option with_alias(Option option, std::string alias) {
  option.alias = std::move(alias);
  return option;
}

Options model_options() {
  return {
      text_option("model.name", "llama3", "the architecture: a folder of tethys/models"),
      int_option("model.dim", 256, between(1, kWidest), "width of the residual stream"),
      int_option("model.n_layers", 6, between(1, kMostLayers), "number of blocks"),
      int_option("model.n_heads", 16, between(1, kMostHeads), "number of query heads"),
      int_option("model.n_kv_heads", 16, between(1, kMostHeads),
                 "number of key and value heads, shared by groups of query heads"),
      int_option("model.head_dim", 0, {.low = 1, .high = kWidest, .also = 0},
                 "size of a head; 0: model.dim / model.n_heads"),
      int_option("model.ffn_dim", 768, between(1, kWidest), "width inside the feed-forward"),
      int_option("model.n_experts", 0, between(0, kMostExperts),
                 "feed-forwards of a layer, of which each token goes through a few; 0: there is one, for all"),
      int_option("model.experts_per_token", 1, between(1, kMostExperts), "experts that each token goes through"),
      int_option("model.expert_ffn_dim", 768, between(1, kWidest), "width inside an expert"),
      int_option("model.vocab_size", 2048, between(1, kMostTokenIds), "number of token ids"),
      int_option("model.context_length", 131072, between(1, kLongest), "longest sequence that the model takes"),
      float_option("model.norm_eps", 1e-5, on_device(), "epsilon of RMSNorm"),
      bool_option("model.tie_embeddings", false, "use the embedding as output projection too"),
      float_option("model.rope_theta", 500000, on_device(), "base of the rotary frequencies"),
      float_option("model.rope_scaling_factor", 8, between(1, kLargestOnDevice),
                   "how much low rotary frequencies are slowed; 1: not at all"),
      float_option("model.rope_scaling_low", 1, on_device(),
                   "turns within the original length up to which a frequency is slowed in full"),
      float_option("model.rope_scaling_high", 4, on_device(),
                   "turns within the original length from which a frequency stays as it is"),
      int_option("model.rope_scaling_original_length", 8192, between(1, kLongest), "context length before scaling"),
  };
}

Options training_options() {
  return {
      int_option("training.steps", 10000, between(1, kMostSteps), "number of optimizer steps"),
      int_option("training.seq_len", 2048, between(1, kLongest), "tokens in a row"),
      int_option("training.local_batch_size", 8, between(1, kMostRows), "rows per data-parallel rank and microbatch"),
      int_option("training.global_batch_size", -1, {.low = 1, .high = kMostRows * kMostDevices, .also = -1},
                 "rows per step over all ranks, reached by gradient accumulation; -1: one microbatch per rank"),
      float_option("training.max_norm", 1.0, on_device(), "global gradient norm above which gradients are scaled down"),
      float_option("training.load_balance_coeff", 1e-3, {.low = 0},
                   "how far the bias of an expert moves after a step towards the mean number of tokens; 0: not at all"),
      enum_option("training.dtype", "float32", {"float32", "bfloat16", "float64"},
                  "dtype of parameters and optimizer state"),
      enum_option(
          "training.mixed_precision_param", "auto", {"auto", "float32", "bfloat16", "float64"},
          "dtype to compute in; auto: float64 for float64 parameters, else float32 on cpu and bfloat16 elsewhere"),
      enum_option("training.mixed_precision_reduce", "float32", {"float32", "bfloat16", "float64"},
                  "dtype that gradients are reduced in; never narrower than a float64 compute dtype"),
  };
}

Options optimizer_options() {
  return {
      float_option("optimizer.lr", 8e-4, on_device_or_zero(), "peak learning rate"),
      float_option("optimizer.beta1", 0.9, from_below(0, 1), "decay of AdamW's first moment"),
      float_option("optimizer.beta2", 0.95, from_below(0, 1), "decay of AdamW's second moment"),
      float_option("optimizer.eps", 1e-8, on_device(), "AdamW's epsilon"),
      float_option("optimizer.weight_decay", 0.1, on_device_or_zero(), "decoupled weight decay"),
      text_list_option(
          "optimizer.groups", {},
          "parameter groups, the first match wins: \"GLOB: lr_scale=S weight_decay=W\", either may be absent"),
      int_option("lr_scheduler.warmup_steps", 200, between(0, kMostSteps), "steps of linear warm-up"),
      float_option("lr_scheduler.decay_ratio", -1, {.low = 0, .high = 1, .also = -1},
                   "share of the steps that decay; -1: all after the warm-up"),
      enum_option("lr_scheduler.decay_type", "linear", {"linear", "sqrt", "cosine"}, "shape of the decay"),
      float_option("lr_scheduler.min_lr_factor", 0, between(0, 1), "share of the peak at which the decay ends"),
  };
}

Options data_options() {
  return {
      text_list_option(
          "data.text", {},
          "globs of text files, each file a document, of JSON lines (.jsonl), each line one, and of Parquet "
          "(.parquet), each row one; the first two may end in .gz or .zst"),
      text_list_option("data.mix", {},
                       "weights of several sources, \"NAME=WEIGHT\"; each glob of data.text is then \"NAME:GLOB\""),
      bool_option("data.chats", false,
                  "the JSON lines or Parquet rows hold chats, lists of \"messages\", of which the assistant's answers "
                  "are learnt"),
      text_option("data.text_field", "text",
                  "member of a JSON line, or column of a Parquet file, that is the document"),
      bool_option("data.skip_bad_lines", false, "pass over lines and rows that hold no document, and count them"),
      text_option("data.tokenizer", "", "tokenizer.json that encodes the text"),
      text_option("data.tokens", "",
                  "token file, raw or .npy, read in order and not shuffled, in the place of data.text"),
      enum_option("data.token_type", "auto", {"auto", "uint16", "uint32"},
                  "how data.tokens is stored; auto: as a .npy says, else uint16 if every id of the vocabulary fits"),
      float_option("data.holdout", 0.01, from_below(0, 1), "share of the documents that is kept for validation"),
      text_option("data.cache_dir", "", "folder of the token index; empty: the user's cache folder"),
  };
}

Options parallelism_options() {
  return {
      int_option("parallelism.data_parallel_replicate_degree", 1, between(1, kMostDevices), "ranks that hold replicas"),
      int_option("parallelism.data_parallel_shard_degree", -1, {.low = 1, .high = kMostDevices, .also = -1},
                 "ranks that shard parameters (FSDP); -1: the devices that the other degrees leave"),
      int_option("parallelism.tensor_parallel_degree", 1, between(1, kMostDevices),
                 "ranks that share each layer's matrices"),
      bool_option("parallelism.enable_sequence_parallel", false,
                  "tensor-parallel ranks share the tokens between attention and feed-forward too"),
      int_option("parallelism.context_parallel_degree", 1, between(1, kMostDevices),
                 "ranks that share the tokens of a row; each sees the keys and values of all"),
      enum_option("parallelism.context_parallel_load_balancer", "headtail", {"headtail", "none"},
                  "which tokens a rank takes; headtail: one piece from the front of the row and one from its end"),
      int_option("parallelism.expert_parallel_degree", 1, between(1, kMostDevices),
                 "ranks that share the experts of a layer, of those of cp, dp_shard and tp"),
      enum_option(
          "parallelism.expert_parallel_dispatcher", "all_to_all", {"all_to_all", "local"},
          "how tokens get to experts of other ranks; all_to_all: each is sent to those that were chosen for it; "
          "local: every rank gets all tokens, and computes what its experts do"),
      enum_option("parallelism.fsdp_reshard_after_forward", "default", {"default", "always", "never"},
                  "gather weights again in the backward; default: always"),
      enum_option("parallelism.fsdp_gather", "parameter", {"parameter", "block"},
                  "what one gather brings: a parameter's shards, or those of all parameters of a block, end to end"),
      enum_option(
          "parallelism.gradient_reduction", "microbatch", {"microbatch", "step"},
          "when gradients are summed over ranks; step: once all microbatches are added up, for which every rank "
          "holds whole gradients"),
  };
}

Options graph_options() {
  return {
      with_alias(enum_option("graph.mode", "graph", {"eager", "deferred", "compile", "graph"},
                             "how the step is cut into programs"),
                 "mode"),
      int_option("graph.flush_ops", 20000, at_least(1), "in deferred mode: ops that queue up before they run"),
      bool_option("graph.scan_layers", false, "trace one layer and loop over it"),
      int_option(
          "graph.prefetch", 0, between(0, 1),
          "with scan_layers: how many layers ahead weights are gathered, so that a device may compute meanwhile"),
      enum_option("graph.remat", "none", {"none", "full", "selective"}, "which activations the backward recomputes"),
      text_list_option("graph.remat_save", {}, "with remat selective: names of the activations that are saved"),
      text_list_option("graph.remat_offload", {},
                       "names of the activations that the host's memory keeps for the backward, where programs can put "
                       "them there (TPU) or with graph.split_offload"),
      bool_option("graph.split_offload", false,
                  "with scan_layers: forward and backward as programs that run layer by layer, and between them what "
                  "the backward reads, or what remat_offload names of it, in the host's memory"),
  };
}

// "reference" and the choices of kernel_choices.h for that part of a model.
std::vector<std::string> kernels_of(std::string_view wanted) {
  std::vector<std::string> names = {"reference"};
#define TETHYS_NAME(part, choice) \
  if (wanted == #part) names.emplace_back(#choice);
  TETHYS_KERNEL_CHOICES(TETHYS_NAME)
#undef TETHYS_NAME
  return names;
}

Options kernel_options() {
  return {
      enum_option("kernels.attention", "reference", kernels_of("attention"),
                  "how attention is computed; reference: with the scores of all queries and keys at once; chunked: "
                  "block by block, in memory that grows with the length of the row and not with its square"),
      int_option("kernels.attention_block", 512, between(1, kLongest),
                 "with attention chunked: queries, and keys, of a block at most"),
      enum_option("kernels.loss", "reference", kernels_of("loss"),
                  "how the output projection and its loss are computed; reference: with the logits of all tokens at "
                  "once; chunked: of one chunk of tokens after the other"),
      int_option("kernels.loss_chunk", 1024, between(1, kLongest), "with loss chunked: tokens of a chunk at most"),
  };
}

Options compile_options() {
  return {
      bool_option("compile.async_gathers", true,
                  "on TPUs: gathers run beside compute, where the chip can; what is computed meanwhile is up to "
                  "graph.prefetch"),
      bool_option("compile.async_reductions", true,
                  "on TPUs: reduce-scatters stay what they are, beside compute where the chip can; otherwise the "
                  "compiler makes full all-reduces of them, which move twice as much"),
      int_option("compile.scoped_vmem_kib", 0, between(0, 1 << 20),
                 "on TPUs: KiB of the chip's own memory that one kernel may take; 0: the compiler's choice"),
  };
}

Options run_options() {
  return {
      bool_option("checkpoint.enable", true, "save checkpoints"),
      int_option("checkpoint.interval", 500, at_least(1), "steps from one checkpoint to the next"),
      int_option("checkpoint.keep_latest_k", 10, at_least(0), "checkpoints that stay; 0: all"),
      text_option("checkpoint.folder", "checkpoint", "folder of the checkpoints inside the output folder"),
      enum_option("checkpoint.async_mode", "async", {"none", "async"},
                  "async: steps go on while a copy of the state is written; none: they wait"),
      text_option("checkpoint.initial_load_path", "", "checkpoint that a new run starts from"),
      bool_option("checkpoint.initial_load_in_hf", false,
                  "checkpoint.initial_load_path is a Hugging Face folder, whose weights are taken"),
      text_list_option("checkpoint.exclude_from_loading", {},
                       "globs over the names of parameters that a new run does not take from the checkpoint it starts "
                       "from; they get their initial values"),
      bool_option("checkpoint.create_seed_checkpoint", false, "save the initial values as step 0 and end"),
      bool_option("checkpoint.last_save_model_only", false, "after the last step save the parameters alone"),
      enum_option("checkpoint.export_dtype", "float32", {"float32", "float16", "bfloat16"},
                  "dtype of a last save of the parameters alone"),
      int_option("metrics.log_freq", 10, at_least(1), "steps from one log line to the next"),
      bool_option("metrics.enable_tensorboard", true, "write event files for TensorBoard beside metrics.jsonl"),
      int_option("metrics.sample_freq", 0, at_least(0),
                 "steps from one sample of the model's text to the next; 0: none"),
      text_option("metrics.sample_prompt", "",
                  "the text that a sample goes on from, no longer than a row; empty: the beginning of a text"),
      int_option("metrics.sample_length", 64, between(1, kLongest), "tokens of a sample at most"),
      float_option("metrics.sample_temperature", 0.8, at_least(0), "of a sample; 0: always the likeliest token"),
      bool_option("validation.enable", false, "validate on the held-out documents"),
      int_option("validation.freq", 100, at_least(1), "steps from one validation to the next"),
      int_option("validation.steps", -1, at_least_or(1, -1), "batches of a validation; -1: all held-out documents"),
      with_alias(bool_option("profiling.enable_profiling", false,
                             "trace a few steps: what programs, transfers, data and checkpoints took, and when"),
                 "profile"),
      int_option("profiling.profiler_warmup", 3, between(0, kMostSteps),
                 "steps of the run, from where it begins or goes on, before the first that is traced"),
      int_option("profiling.profiler_active", 3, between(1, 1000), "steps that are traced"),
      int_option("debug.seed", 0, at_least(0), "seed of initial values and of the order of the data"),
      bool_option("debug.flushes", false, "in deferred mode: say what ran as one program, and why"),
      bool_option("debug.detect_nan", false,
                  "run each step op by op before it counts, and stop at the first op that gives NaN or infinity, which "
                  "is named; many times slower"),
      bool_option("debug.replay", true,
                  "run a step whose loss or gradient norm is not finite once more op by op, and name the first op that "
                  "made it so"),
      with_alias(enum_option("device.platform", "cpu", {"cpu", "tpu", "cuda"}, "where programs run"), "device"),
      int_option("device.count", -1, {.low = 1, .high = kMostDevices, .also = -1},
                 "devices to use; -1: all, and on cpu as many as the degrees ask for"),
      text_option("device.plugin", "", "PJRT plugin to load; empty: the platform's own"),
      text_option("device.executable", "",
                  "the step compiled by `tethys compile --save`, to load for training; empty: it is compiled"),
      text_list_option("device.compile_options", {}, "options of the compiler: NAME=VALUE"),
  };
}

}  // namespace

const Options& option_table() {
  static const Options table = [] {
    Options all;
    for (const Options& part :
         {model_options(), training_options(), optimizer_options(), data_options(), parallelism_options(),
          graph_options(), kernel_options(), compile_options(), run_options()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }();
  return table;
}

Options with_training_options(Options own) {
  own.insert(own.end(), option_table().begin(), option_table().end());
  return own;
}

}  // namespace tethys
