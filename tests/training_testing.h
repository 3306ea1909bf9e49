// For tests that train a small Llama 3, or another architecture, on real devices: builds model, store and program for a
// mesh and a way of recording, starts from given weights, and keeps the state between steps.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kernels/linear_cross_entropy/linear_cross_entropy.h"
#include "llama3_formula.h"
#include "models/llama3/config.h"
#include "models/llama3/plan.h"
#include "models/registry.h"
#include "nn/attention.h"
#include "nn/moe/moe.h"
#include "pjrt/client.h"
#include "pjrt/plugin.h"
#include "runtime/executor.h"
#include "train/degrees.h"
#include "train/step.h"
#include "train/token_order.h"

namespace tethys::training_testing {

struct Model {
  int64_t dim = 32, layers = 2, heads = 8, kv_heads = 4, ffn = 64, vocab = 103;
  bool tied = false;
  double norm_eps = 1e-5, theta = 500000, factor = 8, low = 1, high = 4;
  int64_t original = 64;
  std::string architecture = "llama3";
  int64_t head_dim = 0;  // 0: the width's share
  int64_t experts = 0, experts_per_token = 1, expert_ffn = 32;
};

// How the same step is recorded and run.
struct Variant {
  std::string name;
  Mesh mesh;
  bool scan = false;
  RematPolicy remat;
  int64_t microbatches = 1;
  DType dtype = DType::F64;
  bool reshard_after_forward = true;
  GatherOptions gathers = {};
  bool reduces_once = false;  // over all microbatches
  bool sequence_parallel = false;
  bool head_tail = false;  // of rows that are shared over cp
  Dispatcher dispatcher = Dispatcher::AllToAll;
  // For runs of many steps: worth the compiler's time.
  bool optimised = false;
  // What is done to the config tree before the model is built, and the foreign code that it then needs.
  std::function<void(ConfigNode&)> rewrite = {};
  std::vector<Handler> handlers = {};
  std::set<std::string> kernels = {};
  // Of each logical parameter; empty: weight decay 0.1.
  std::vector<GroupSettings> groups = {};
  // What is done to the program of one device before it is compiled.
  std::function<std::shared_ptr<Graph>(const Graph& local)> edit = {};
  // Without it experts have no bias, as in other systems.
  bool balances_experts = true;
  // Where it is not `dtype`.
  std::optional<DType> compute_dtype = {};
};

// A few steps of a tiny model are mostly compiling, which takes a third less time without LLVM's optimisations.
inline pjrt::OptionOverrides compiler_options(const Variant& variant) {
  if (variant.optimised) return {};
  return {{"xla_backend_optimization_level", int64_t{0}}};
}

inline std::unique_ptr<LanguageModel> build_model(const Config& config, const Variant& variant) {
  const std::unique_ptr<LanguageModelConfig> tree = architecture_of(config).configure(config);
  if (variant.rewrite) variant.rewrite(*tree);
  repeat_kv_heads(*tree, variant.mesh.size_of("tp"));
  set_dispatcher(*tree, variant.dispatcher);
  return tree->build();
}

inline Config config_of(const Model& m) {
  Config config;
  const Origin origin{Origin::Source::Flag, "test"};
  config.set("model.name", m.architecture, origin);
  config.set("model.head_dim", m.head_dim, origin);
  config.set("model.dim", m.dim, origin);
  config.set("model.n_layers", m.layers, origin);
  config.set("model.n_heads", m.heads, origin);
  config.set("model.n_kv_heads", m.kv_heads, origin);
  config.set("model.ffn_dim", m.ffn, origin);
  config.set("model.n_experts", m.experts, origin);
  config.set("model.experts_per_token", m.experts_per_token, origin);
  config.set("model.expert_ffn_dim", m.expert_ffn, origin);
  config.set("model.vocab_size", m.vocab, origin);
  config.set("model.tie_embeddings", m.tied, origin);
  config.set("model.norm_eps", m.norm_eps, origin);
  config.set("model.rope_theta", m.theta, origin);
  config.set("model.rope_scaling_factor", m.factor, origin);
  config.set("model.rope_scaling_low", m.low, origin);
  config.set("model.rope_scaling_high", m.high, origin);
  config.set("model.rope_scaling_original_length", m.original, origin);
  return config;
}

// One client per plugin and number of devices.
inline std::shared_ptr<const pjrt::Client> cpu_client(int64_t devices, const char* file = "xla_cpu.so") {
  static std::map<std::pair<std::string, int64_t>, std::shared_ptr<const pjrt::Client>> clients;
  auto& client = clients[{file, devices}];
  if (!client) {
    const std::string path = std::string(TETHYS_SOURCE_DIR "/.deps/plugins/") + file;
    client = std::make_shared<const pjrt::Client>(pjrt::Plugin::load(path),
                                                  pjrt::ClientOptions{.device_count = devices, .extra = {}});
  }
  return client;
}

// A tensor per logical parameter.
using Named = std::map<std::string, std::vector<double>>;

class Run {
 public:
  Run(const Model& model, Variant variant, int64_t rows, int64_t seq_len, const char* plugin_file = "xla_cpu.so",
      bool output_gradients = true)
      : variant_(std::move(variant)),
        rows_(rows),
        seq_len_(seq_len),
        model_(build_model(config_of(model), variant_)),
        executor_(cpu_client(variant_.mesh.size(), plugin_file), variant_.mesh, {"cpu", variant_.kernels},
                  {.compiler_options = compiler_options(variant_), .handlers = variant_.handlers}) {
    Config config = config_of(model);
    config.set("parallelism.enable_sequence_parallel", variant_.sequence_parallel, {Origin::Source::Flag, "test"});
    const DType compute = variant_.compute_dtype.value_or(variant_.dtype);
    const StoreOptions options{.mesh = variant_.mesh,
                               .stack_layers = variant_.scan,
                               .storage_dtype = variant_.dtype,
                               .compute_dtype = compute,
                               .gradient_dtype = wide(compute),
                               .reshard_after_forward = variant_.reshard_after_forward,
                               .unreduced_gradients = variant_.reduces_once};
    const PlanOptions plan = plan_options_of(config, variant_.mesh);
    store_ = make_store(*model_, architecture_of(config).plan(plan), options);
    const bool gathers =
        variant_.mesh.size_of("dp_shard") * variant_.mesh.size_of("cp") > 1 && variant_.reshard_after_forward;
    if (variant_.head_tail) order_ = head_tail_order(seq_len, variant_.mesh.size_of("cp"));
    model_->set_layer_options({variant_.scan, variant_.remat.kind != RematPolicy::Kind::None || gathers});
    StepOptions step;
    step.mesh = variant_.mesh;
    step.remat = variant_.remat;
    step.output_gradients = output_gradients;
    if (!variant_.balances_experts) step.expert_balance = 0;
    step.groups = variant_.groups;
    if (step.groups.empty()) step.groups.assign(model_->parameters().size(), {1, 0.1});
    const BatchShape shape{variant_.microbatches, rows / variant_.microbatches, seq_len};
    const RecordedStep recorded = record_training_step(*model_, store_, shape, step);
    Localised graphs = localised(*recorded.graph, variant_.mesh, variant_.gathers);
    if (variant_.edit) graphs.local = variant_.edit(*graphs.local);
    program_ = executor_.compile(make_program(graphs, variant_.mesh, executor_.capabilities(), recorded.aliases));
    start(model.tied);
  }

  struct Outcome {
    double loss = 0, norm = 0;
    bool ok = false;
  };

  // `tokens` and `labels` s32 [rows, seq_len]; each row one document.
  Outcome step(int64_t number, double learning_rate, const HostTensor& tokens, const HostTensor& labels) {
    std::vector<int32_t> positions, segments(static_cast<size_t>(rows_ * seq_len_), 0);
    for (int64_t i = 0; i < rows_ * seq_len_; ++i) positions.push_back(static_cast<int32_t>(i % seq_len_));
    const Dims dims{rows_, seq_len_};
    return step(number, learning_rate, tokens, labels, HostTensor::of<int32_t>(dims, positions),
                HostTensor::of<int32_t>(dims, segments));
  }

  Outcome step(int64_t number, double learning_rate, const HostTensor& tokens, const HostTensor& labels,
               const HostTensor& positions, const HostTensor& segments) {
    std::vector<Array> arguments = std::move(state_);
    const TensorType rate{wide(variant_.dtype), {}};
    const std::vector<double> rates = {learning_rate};
    arguments.push_back(put(HostTensor::scalar<int32_t>(static_cast<int32_t>(number))));
    arguments.push_back(put(HostTensor::from_doubles(rate, rates)));
    for (const HostTensor* rows : {&tokens, &labels, &positions, &segments})
      arguments.push_back(put(in_order(microbatches(*rows), order_)));
    results_ = executor_.run(*program_, std::move(arguments));
    const size_t count = 3 * store_.size() + 1;
    state_.assign(results_.begin(), results_.begin() + static_cast<int64_t>(count));
    results_.erase(results_.begin(), results_.begin() + static_cast<int64_t>(count));
    return {to_host(results_[0]).to_doubles()[0], to_host(results_[1]).to_doubles()[0],
            to_host(state_.back()).to_doubles()[0] != 0};
  }

  Named parameters() const { return logical(state_, 0); }
  Named m() const { return logical(state_, store_.size()); }
  Named v() const { return logical(state_, 2 * store_.size()); }
  // Of the last step.
  Named gradients() const { return logical(results_, 2); }

  const CompiledProgram& program() const { return *program_; }
  // What arrays hold in the devices' memory.
  int64_t live_bytes() const { return executor_.ledger().live(pjrt::MemoryKind::Default); }
  const std::vector<StoredParameter>& store() const { return store_; }

 private:
  Array put(const HostTensor& tensor) {
    return to_device(executor_.devices(), tensor,
                     tensor.type().rank() == 3 ? batch_placement(variant_.mesh, 1) : replicated(variant_.mesh));
  }

  HostTensor microbatches(const HostTensor& rows) const {
    const TensorType type{rows.type().dtype, {variant_.microbatches, rows_ / variant_.microbatches, seq_len_}};
    return HostTensor(type, {rows.bytes().begin(), rows.bytes().end()});
  }

  void start(bool tied) {
    std::vector<std::vector<Array>> lists(3);
    for (const StoredParameter& p : store_) {
      std::vector<double> values;
      for (const Parameter* member : p.members) {
        const TensorType type{p.type.dtype, member->dims()};
        const bool zero = !p.trained() && !variant_.balances_experts;
        const HostTensor w = zero ? HostTensor(type) : llama3_formula::weight(member->name(), type, tied);
        const std::vector<double> one = padded(w.to_doubles(), member->dims(), member->parametrization().storage_dims);
        values.insert(values.end(), one.begin(), one.end());
      }
      lists[0].push_back(to_device(executor_.devices(), HostTensor::from_doubles(p.type, values), p.placement));
      for (int i : {1, 2}) lists[i].push_back(to_device(executor_.devices(), HostTensor(p.type), p.placement));
    }
    for (auto& list : lists) state_.insert(state_.end(), list.begin(), list.end());
    HostTensor ok(TensorType{DType::Bool, {}});
    ok.bytes()[0] = std::byte{1};
    state_.push_back(put(ok));
  }

  // Copies the elements that both shapes have.
  static std::vector<double> padded(const std::vector<double>& x, const Dims& from, const Dims& to) {
    std::vector<double> result(static_cast<size_t>(element_count(to)), 0);
    for (size_t i = 0; i < result.size(); ++i) {
      int64_t rest = static_cast<int64_t>(i), at = 0, stride = 1;
      bool inside = true;
      for (size_t d = to.size(); d-- > 0; rest /= to[d]) {
        inside = inside && rest % to[d] < from[d];
        at += rest % to[d] * stride;
        stride *= from[d];
      }
      if (inside) result[i] = x[static_cast<size_t>(at)];
    }
    return result;
  }

  Named logical(const std::vector<Array>& arrays, size_t first) const {
    Named result;
    for (size_t i = 0; i < store_.size(); ++i) {
      const std::vector<double> all = to_host(arrays.at(first + i)).to_doubles();
      const size_t count = store_[i].members.size();
      for (size_t k = 0; k < count; ++k) {
        const Parameter& member = *store_[i].members[k];
        const auto begin = all.begin() + static_cast<int64_t>(k * (all.size() / count));
        result[member.name()] = padded({begin, begin + static_cast<int64_t>(all.size() / count)},
                                       member.parametrization().storage_dims, member.dims());
      }
    }
    return result;
  }

  Variant variant_;
  int64_t rows_, seq_len_;
  std::unique_ptr<LanguageModel> model_;
  Executor executor_;
  std::vector<StoredParameter> store_;
  std::vector<int64_t> order_;
  std::shared_ptr<const CompiledProgram> program_;
  std::vector<Array> state_;
  std::vector<Array> results_;  // loss, norm, gradients
};

}  // namespace tethys::training_testing
