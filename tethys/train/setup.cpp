#include "train/setup.h"

#include "config/config.h"
#include "config/parameter_group.h"
#include "kernels/choices.h"
#include "models/registry.h"
#include "nn/attention.h"
#include "nn/moe/moe.h"
#include "train/sizes.h"
#include "train/token_order.h"

namespace tethys {
namespace {

StepOptions step_options(const Config& config, const Mesh& mesh, const RematPolicy& remat, LanguageModel& model) {
  std::vector<std::string> names;
  model.for_each_parameter([&](Parameter& parameter) { names.push_back(parameter.name()); });
  StepOptions options;
  options.mesh = mesh;
  options.adamw = adamw_of(config);
  options.max_norm = config.get_float("training.max_norm");
  options.expert_balance = config.get_float("training.load_balance_coeff");
  options.groups = group_settings(parameter_groups(config), config.get_float("optimizer.weight_decay"), names);
  options.remat = remat;
  return options;
}

std::vector<int64_t> token_order_of(const Config& config, const Degrees& degrees) {
  const bool balanced = config.get_string("parallelism.context_parallel_load_balancer") == "headtail";
  if (degrees.context == 1 || !balanced) return {};
  return head_tail_order(config.get_int("training.seq_len"), degrees.context);
}

// Options that were asked for and do nothing here, each with what it takes.
std::vector<std::string> idle_options(const Config& config, const TrainingSetup& setup) {
  const Degrees& d = setup.degrees;
  const bool gathers = d.shard * d.context > 1,
             compiled = config.get_string("graph.mode") == "graph" || config.get_string("graph.mode") == "compile";
  const bool sequence = config.get_bool("parallelism.enable_sequence_parallel");
  const bool once = config.get_string("parallelism.gradient_reduction") == "step";
  const bool local = config.get_string("parallelism.expert_parallel_dispatcher") == "local";
  const auto untraced = [&](const char* option) {
    return !config.get_bool("profiling.enable_profiling") && config.origin(option).source == Origin::Source::Flag;
  };
  const auto given = [&](const char* name) { return config.origin(name).source != Origin::Source::Default; };
  const auto reference = [&](const char* name) { return config.get_string(name) == "reference"; };
  struct Idle {
    const char* option;
    bool idles;
    const char* takes;
  };
  const Idle options[] = {
      {"parallelism.enable_sequence_parallel", sequence && d.tensor == 1, "parallelism.tensor_parallel_degree above 1"},
      {"parallelism.gradient_reduction", once && setup.shape.microbatches == 1,
       "accumulation: training.global_batch_size above the rows of one microbatch"},
      {"parallelism.gradient_reduction", once && setup.shape.microbatches > 1 && setup.mesh.size() == 1,
       "more than one device"},
      {"parallelism.expert_parallel_dispatcher", local && d.expert == 1, "parallelism.expert_parallel_degree above 1"},
      {"parallelism.context_parallel_load_balancer",
       config.get_string("parallelism.context_parallel_load_balancer") == "none" && d.context == 1,
       "parallelism.context_parallel_degree above 1"},
      {"parallelism.fsdp_reshard_after_forward",
       config.get_string("parallelism.fsdp_reshard_after_forward") != "default" && !gathers,
       "parameters that are sharded"},
      {"parallelism.fsdp_gather", setup.gathers.by_block && !gathers, "parameters that are sharded"},
      {"kernels.attention_block", given("kernels.attention_block") && reference("kernels.attention"),
       "--kernels.attention chunked"},
      {"kernels.loss_chunk", given("kernels.loss_chunk") && reference("kernels.loss"), "--kernels.loss chunked"},
      {"graph.prefetch", setup.gathers.ahead && !gathers, "parameters that are sharded"},
      {"graph.prefetch", setup.gathers.ahead && !config.get_bool("graph.scan_layers"), "graph.scan_layers"},
      {"graph.remat_offload",
       !config.get_strings("graph.remat_offload").empty() && !config.get_bool("graph.split_offload") &&
           config.get_string("device.platform") == "cpu",
       "graph.split_offload; a program for the CPU has one memory"},
      {"parallelism.fsdp_gather", setup.gathers.by_block && gathers && !compiled, "--mode graph or compile"},
      {"graph.prefetch", setup.gathers.ahead && gathers && !compiled, "--mode graph or compile"},
      {"profiling.profiler_active", untraced("profiling.profiler_active"), "--profile"},
      {"profiling.profiler_warmup", untraced("profiling.profiler_warmup"), "--profile"},
  };
  std::vector<std::string> warnings;
  for (const Idle& o : options) {
    if (o.idles) warnings.push_back(fmt::format("{} does nothing without {}", config.cite(o.option), o.takes));
  }
  return warnings;
}

}  // namespace

Precision precision_of(const Config& config) {
  Precision precision;
  precision.storage = parse_dtype(config.get_string("training.dtype"));
  const std::string& compute = config.get_string("training.mixed_precision_param");
  if (compute != "auto") {
    precision.compute = parse_dtype(compute);
  } else if (precision.storage == DType::F64) {
    precision.compute = DType::F64;
  } else {
    precision.compute = config.get_string("device.platform") == "cpu" ? DType::F32 : DType::BF16;
  }
  precision.gradient = parse_dtype(config.get_string("training.mixed_precision_reduce"));
  if (precision.compute == DType::F64) precision.gradient = DType::F64;
  return precision;
}

RematPolicy remat_of(const Config& config) {
  const std::string& remat = config.get_string("graph.remat");
  RematPolicy policy;
  if (remat == "full") policy.kind = RematPolicy::Kind::Full;
  if (remat == "selective") policy.kind = RematPolicy::Kind::Selective;
  policy.names = config.get_strings("graph.remat_save");
  policy.offload = config.get_strings("graph.remat_offload");
  policy.offload_all = config.get_bool("graph.split_offload") && policy.offload.empty();
  return policy;
}

TrainingSetup set_up(const Config& config, std::optional<int64_t> devices) {
  TrainingSetup setup;
  setup.degrees = degrees_of(config, devices);
  setup.mesh = mesh_of(setup.degrees);
  const StepRows rows = step_rows_of(config, setup.degrees);
  setup.shape = {rows.accumulation, rows.rows, config.get_int("training.seq_len")};
  check_sizes(config, setup.shape);
  setup.precision = precision_of(config);
  const Architecture& architecture = architecture_of(config);
  const std::unique_ptr<LanguageModelConfig> tree = architecture.configure(config);
  setup.overridden = apply_overrides(*tree, kernel_overrides(config));
  repeat_kv_heads(*tree, setup.degrees.tensor);
  set_dispatcher(*tree, dispatcher_named(config.get_string("parallelism.expert_parallel_dispatcher")));
  setup.model = tree->build();
  const bool scan = config.get_bool("graph.scan_layers");
  const RematPolicy remat = remat_of(config);
  const bool reshard = config.get_string("parallelism.fsdp_reshard_after_forward") != "never";
  const bool reduces_once = config.get_string("parallelism.gradient_reduction") == "step" && rows.accumulation > 1;
  // A block is a unit of recomputation where activations are computed again, or gathered weights are gathered again.
  const bool gathers = setup.degrees.shard * setup.degrees.context > 1 && reshard;
  setup.model->set_layer_options({.scan = scan, .checkpoint = remat.kind != RematPolicy::Kind::None || gathers});
  setup.store = make_store(*setup.model, architecture.plan(plan_options_of(config, setup.mesh)),
                           {.mesh = setup.mesh,
                            .stack_layers = scan,
                            .storage_dtype = setup.precision.storage,
                            .compute_dtype = setup.precision.compute,
                            .gradient_dtype = setup.precision.gradient,
                            .reshard_after_forward = reshard,
                            .unreduced_gradients = reduces_once});
  setup.step = step_options(config, setup.mesh, remat, *setup.model);
  setup.gathers = {.by_block = config.get_string("parallelism.fsdp_gather") == "block",
                   .ahead = config.get_int("graph.prefetch") > 0};
  setup.split_offload = config.get_bool("graph.split_offload");
  setup.schedule = schedule_of(config);
  setup.learning_rate = config.get_float("optimizer.lr");
  setup.token_order = token_order_of(config, setup.degrees);
  setup.warnings = idle_options(config, setup);
  setup.warnings.insert(setup.warnings.end(), setup.overridden.warnings.begin(), setup.overridden.warnings.end());
  return setup;
}

FlopsModel flops_model_of(const Config& config, LanguageModel& model) {
  FlopsModel flops;
  model.for_each_parameter([&](Parameter& parameter) {
    if (parameter.trained()) flops.parameters += parameter.elements();
  });
  const int64_t experts = config.get_int("model.n_experts"), top_k = config.get_int("model.experts_per_token");
  model.apply([&](Module& module) {
    if (dynamic_cast<Experts*>(&module) == nullptr) return;
    for (const Parameter* stack : module.parameters())
      flops.passed_by += stack->elements() / experts * (experts - top_k);
  });
  if (!config.get_bool("model.tie_embeddings")) {
    flops.embedding = config.get_int("model.vocab_size") * config.get_int("model.dim");
  }
  flops.layers = config.get_int("model.n_layers");
  flops.heads = config.get_int("model.n_heads");
  flops.query_key_dim = flops.value_dim = head_dim_of(config);
  return flops;
}

}  // namespace tethys
