#include "train/validation.h"

#include <algorithm>
#include <utility>

#include "kernels/linear_cross_entropy/linear_cross_entropy.h"
#include "ops/control/redistribute.h"
#include "train/token_order.h"

namespace tethys {
namespace {

// Inputs: the parameters, tokens, labels, positions, segments. Outputs: the sum of the loss and the count of labels.
std::unique_ptr<Graph> record_validation(const TrainingSetup& setup) {
  auto graph = std::make_unique<Graph>();
  std::vector<Value> parameters;
  for (const StoredParameter& stored : setup.store) {
    parameters.push_back(graph->input(stored.type, stored.name, stored.placement));
  }
  bind_store(*graph, setup.store, parameters);
  const TensorType type{DType::S32, {setup.shape.rows, setup.shape.seq_len}};
  const Placement placement = batch_placement(setup.mesh);
  const Tensor tokens = graph->input(type, "tokens", placement);
  const Tensor labels = graph->input(type, "labels", placement);
  const Tensor positions = graph->input(type, "positions", placement);
  const Tensor segments = graph->input(type, "segments", placement);
  const Tensor loss = setup.model->loss_sum({tokens, positions, segments}, labels);
  const Tensor count = sum(cast(not_equal(labels, kIgnoredLabel), DType::S32));
  const Placement whole = replicated(setup.mesh);
  graph->set_outputs({redistribute(loss.value(), whole), redistribute(count.value(), whole)});
  return graph;
}

// The text that `steps` batches read; all of it if that is -1.
TokenStream beginning(const TokenStream& text, const TrainingSetup& setup, int64_t steps) {
  const int64_t wanted = steps * setup.shape.rows * setup.shape.seq_len + 1;
  return steps == -1 || wanted >= text.size() ? text : text.first(wanted);
}

BatchSettings validation_batches(const TrainingSetup& setup) {
  return {.seq_len = setup.shape.seq_len, .batch = setup.shape.rows, .order = RowOrder::Once};
}

// The only microbatch [1,B,S] as [B,S].
HostTensor rows_of(HostTensor tensor) {
  const Dims& dims = tensor.type().dims;
  return HostTensor({tensor.type().dtype, {dims[1], dims[2]}}, {tensor.bytes().begin(), tensor.bytes().end()});
}

}  // namespace

Validator::Validator(Executor& executor, const TrainingSetup& setup, const TokenStream& text, int64_t steps)
    : executor_(executor),
      text_(beginning(text, setup, steps)),
      batches_(text_, validation_batches(setup)),
      entropy_(unigram_entropy(text_)),
      order_(setup.token_order),
      program_(executor.compile(
          make_program(*record_validation(setup), setup.mesh, executor.capabilities(), {}, setup.gathers),
          "validation")) {}

ValidationMetrics Validator::run(const std::vector<Array>& parameters, int64_t step, const Progress& progress) {
  double loss = 0;
  int64_t tokens = 0;
  const Placement placement = batch_placement(executor_.mesh());
  const int64_t batches = batches_.steps_per_epoch();
  for (int64_t i = 0; i < batches; ++i) {
    report(progress, "evaluating", i, batches);
    Batch batch = batches_.make(i);
    std::vector<Array> arguments = parameters;
    for (HostTensor* part : {&batch.tokens, &batch.labels, &batch.positions, &batch.segment_ids}) {
      arguments.push_back(to_device(executor_.devices(), in_order(rows_of(std::move(*part)), order_), placement));
    }
    const std::vector<Array> results = executor_.run(*program_, std::move(arguments));
    loss += to_host(results[0]).to_doubles()[0];
    tokens += to_host(results[1]).as<int32_t>()[0];
  }
  report(progress, "evaluating", batches, batches);
  return {step, loss / static_cast<double>(std::max<int64_t>(tokens, 1)), tokens, entropy_};
}

void Validator::for_each_label(const std::function<void(int32_t)>& use) const {
  for (int64_t i = 0; i < batches_.steps_per_epoch(); ++i) {
    const Batch batch = batches_.make(i);
    for (int32_t label : batch.labels.as<int32_t>()) {
      if (label != kIgnoredLabel) use(label);
    }
  }
}

}  // namespace tethys
