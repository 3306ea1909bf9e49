// The balance of experts: the rule on numbers worked by hand, and the counts that a step hands to it, which are the
// same however the step is cut.
#include <gtest/gtest.h>

#include <cmath>

#include "nn/embedding.h"
#include "nn/loss/projection_loss.h"
#include "nn/moe/moe.h"
#include "ops/samples.h"
#include "runtime/testing.h"
#include "train/balance.h"
#include "train/state.h"
#include "train/step_runner.h"

namespace tethys {
namespace {

constexpr int64_t kVocabulary = 12, kWidth = 4, kHidden = 4, kExperts = 6, kTopK = 2, kLayers = 2;
constexpr int64_t kRows = 8, kLength = 6;

std::vector<double> after(const std::vector<double>& bias, const std::vector<double>& counts, double coeff) {
  Executor& executor = runtime_testing::shared_executor(1);
  const TensorType type{DType::F64, {static_cast<int64_t>(bias.size())}};
  Graph graph;
  const Tensor b = graph.input(type, "bias", Placement{}), c = graph.input(type, "counts", Placement{});
  graph.set_outputs({balanced(b, c, coeff).value()});
  return to_host(executor.call(graph, {runtime_testing::put(executor, HostTensor::from_doubles(type, bias), {}),
                                       runtime_testing::put(executor, HostTensor::from_doubles(type, counts), {})})[0])
      .to_doubles();
}

void expect_near(const std::vector<double>& got, const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], tolerance) << "element " << i;
}

TEST(Balance, MovesEachBiasTowardsTheMeanAndKeepsTheirSum) {
  expect_near(after({0.5, 0, 0, 0}, {6, 2, 4, 0}, 0.1), {0.4, 0.1, -0.1, 0.1}, 1e-15);
  // Deltas −0.1, 0.1, 0.1, 0.1 of mean 0.05.
  expect_near(after({0, 0, 0, 0}, {9, 1, 1, 1}, 0.1), {-0.15, 0.05, 0.05, 0.05}, 1e-15);
  expect_near(after({0.5, 0, 0, 0}, {3, 3, 3, 3}, 0.1), {0.5, 0, 0, 0}, 0);
  expect_near(after({0.5, 0, 0, 0}, {6, 2, 4, 0}, 0), {0.5, 0, 0, 0}, 0);
}

// x + experts of x.
class Block : public Module {
 public:
  explicit Block(std::string name) : Module(name) {
    MoEConfig config;
    config.router = std::make_unique<RouterConfig>();
    config.experts = std::make_unique<ExpertsConfig>();
    config.router->dim = config.experts->dim = kWidth;
    config.router->experts = config.experts->experts = kExperts;
    config.router->top_k = kTopK;
    config.router->initial = config.experts->w1 = config.experts->w3 = config.experts->w2 = normal(0.7);
    config.experts->hidden = kHidden;
    moe_ = config.build(name + ".moe");
    add(*moe_);
  }
  Tensor forward(const Tensor& x_BSD) {
    const Scope scope = enter(x_BSD.graph());
    return x_BSD + moe_->forward(x_BSD);
  }

 private:
  std::unique_ptr<FeedForward> moe_;
};

class Model : public LanguageModel {
 public:
  Model() : embedding_(EmbeddingConfig(kVocabulary, kWidth, normal(1)).build("tok_embeddings")), output_(output()) {
    add(*embedding_);
    for (int64_t i = 0; i < kLayers; ++i) {
      layers_.push_back(std::make_unique<Block>(fmt::format("layers.{}", i)));
      add(*layers_.back());
    }
    add(*output_);
  }
  Tensor loss_sum(const TokenRows& rows, const Tensor& labels_BS) override {
    return output_->forward(hidden(rows, nullptr), labels_BS);
  }
  Tensor hidden(const TokenRows& rows, KvCache*) override {
    return run_layers(blocks(), embedding_->forward(rows.tokens_BS), {}, layer_options(),
                      [&](size_t layer, const Tensor& x, const auto&) { return layers_[layer]->forward(x); });
  }
  Tensor project(const Tensor& hidden_BSD) override { return output_->logits(hidden_BSD); }
  std::vector<Module*> blocks() override {
    std::vector<Module*> all;
    for (const auto& layer : layers_) all.push_back(layer.get());
    return all;
  }

 private:
  std::unique_ptr<ProjectionLoss> output() {
    ProjectionLossConfig config;
    config.dim = kWidth;
    config.vocab_size = kVocabulary;
    return config.build("output", embedding_->weight());
  }

  std::unique_ptr<Embedding> embedding_;
  std::vector<std::unique_ptr<Block>> layers_;
  std::unique_ptr<ProjectionLoss> output_;
};

// How the step is cut.
struct Cut {
  const char* name;
  Mesh mesh = {};
  int64_t microbatches = 1;
  bool scan = false;
  bool remat = false;
};

struct Stepped {
  double loss = 0, norm = 0;
  std::vector<std::vector<double>> counts, bias;  // of each layer
};

// All of one row [L·E] or of single layers [E], by layer.
void append_layers(std::vector<std::vector<double>>& layers, const Array& array) {
  const std::vector<double> all = to_host(array).to_doubles();
  for (size_t begin = 0; begin < all.size(); begin += kExperts)
    layers.emplace_back(all.begin() + static_cast<int64_t>(begin),
                        all.begin() + static_cast<int64_t>(begin) + kExperts);
}

TrainingSetup setup_of(const Cut& cut) {
  TrainingSetup setup;
  setup.mesh = cut.mesh;
  setup.precision = {.storage = DType::F64, .compute = DType::F64, .gradient = DType::F64};
  setup.model = std::make_unique<Model>();
  setup.model->set_layer_options({.scan = cut.scan, .checkpoint = cut.remat});
  const Plan plan = {{{"**.w1", shard(1), false, shard(0)},
                      {"**.w3", shard(1), false, shard(0)},
                      {"**.w2", shard(2), false, shard(0)}},
                     {{"layers.*.moe", replicate(), replicate()}}};
  setup.store = make_store(*setup.model, plan,
                           {.mesh = cut.mesh,
                            .stack_layers = cut.scan,
                            .storage_dtype = setup.precision.storage,
                            .compute_dtype = setup.precision.compute,
                            .gradient_dtype = setup.precision.gradient});
  setup.step.mesh = cut.mesh;
  if (cut.remat) setup.step.remat = {RematPolicy::Kind::Full, {}};
  setup.shape = {cut.microbatches, kRows / cut.microbatches, kLength};
  return setup;
}

Stepped step(const Cut& cut) {
  Executor executor(runtime_testing::client(), cut.mesh, Capabilities{});
  TrainingSetup setup = setup_of(cut);
  setup.step.output_gradients = true;
  const RecordedStep recorded = record_training_step(*setup.model, setup.store, setup.shape, setup.step);
  const Program program = make_program(*recorded.graph, cut.mesh, {}, recorded.aliases);

  std::vector<Array> arguments = initial_state(executor, setup, 7).list();
  const auto put = [&](const HostTensor& tensor) {
    arguments.push_back(runtime_testing::put(executor, tensor, program.inputs[arguments.size()].placement));
  };
  const Dims rows = {setup.shape.microbatches, setup.shape.rows, setup.shape.seq_len};
  put(HostTensor::scalar<int32_t>(0));
  put(HostTensor::scalar<double>(1e-3));
  for (int seed : {1, 2}) put(sample_tensor(rows, seed, 0, kVocabulary, DType::S32));
  for (int i = 0; i < 2; ++i) put(HostTensor(TensorType{DType::S32, rows}));
  const std::vector<Array> results = executor.run(program, std::move(arguments));

  const size_t stored = setup.store.size();
  Stepped stepped{
      to_host(results[3 * stored + 1]).to_doubles()[0], to_host(results[3 * stored + 2]).to_doubles()[0], {}, {}};
  for (size_t i = 0; i < stored; ++i) {
    if (setup.store[i].trained()) continue;
    append_layers(stepped.bias, results[i]);
    append_layers(stepped.counts, results[3 * stored + 3 + i]);
  }
  return stepped;
}

const Stepped& whole() {
  static const Stepped stepped = step({"whole"});
  return stepped;
}

TEST(ExpertCounts, OfEachLayerSumToTokensTimesExpertsPerTokenAndMoveItsBias) {
  ASSERT_EQ(whole().counts.size(), kLayers);
  for (int64_t layer = 0; layer < kLayers; ++layer) {
    const std::vector<double>& counts = whole().counts[layer];
    double sum = 0;
    for (double count : counts) sum += count;
    EXPECT_EQ(sum, kRows * kLength * kTopK) << "layer " << layer;
    expect_near(whole().bias[layer], after(std::vector<double>(kExperts, 0), counts, 1e-3), 1e-18);
  }
  EXPECT_NE(whole().counts[0], whole().counts[1]);
}

class ExpertCountsOfAStep : public testing::TestWithParam<Cut> {};

TEST_P(ExpertCountsOfAStep, AreThoseOfTheWholeStepHoweverItIsCut) {
  const Stepped got = step(GetParam());
  EXPECT_EQ(got.counts, whole().counts);
  EXPECT_EQ(got.bias, whole().bias);
  EXPECT_NEAR(got.loss, whole().loss, 1e-12 * whole().loss);
  EXPECT_NEAR(got.norm, whole().norm, 1e-10 * whole().norm);
}

const Mesh kDp2({{"dp_shard", 2}}), kDp2Tp2({{"dp_shard", 2}, {"tp", 2}});
const Mesh kEp2({{"dp_shard_ep", 2}}), kEp2Tp2({{"dp_shard_ep", 2}, {"tp", 2}}), kTp2InEp2({{"tp_ep", 2}});
INSTANTIATE_TEST_SUITE_P(Cuts, ExpertCountsOfAStep,
                         testing::Values(Cut{"remat", {}, 1, false, true}, Cut{"scan", {}, 1, true, false},
                                         Cut{"accumulated_scan_remat", {}, 4, true, true},
                                         Cut{"accumulated", {}, 2, false, false}, Cut{"dp2", kDp2, 2, false, true},
                                         Cut{"dp2_tp2", kDp2Tp2, 1, false, false},
                                         Cut{"dp2_tp2_scan_remat", kDp2Tp2, 2, true, true},
                                         Cut{"ep2", kEp2, 1, false, false}, Cut{"ep2_tp2", kEp2Tp2, 2, true, true},
                                         Cut{"tp2_in_ep2", kTp2InEp2, 1, false, false}),
                         [](const auto& info) { return info.param.name; });

// Token t's embedding and expert e's row of the router point along the unit circle, so that a token's two experts are
// those next to it: twelve tokens in turn choose each expert four times.
std::vector<double> unit_circle(const Dims& dims, double offset) {
  std::vector<double> values(static_cast<size_t>(element_count(dims)), 0);
  for (int64_t i = 0; i < dims[0]; ++i) {
    const double angle = 2 * M_PI * (static_cast<double>(i) + offset) / static_cast<double>(dims[0]);
    values[static_cast<size_t>(i * dims[1])] = std::cos(angle);
    values[static_cast<size_t>(i * dims[1] + 1)] = std::sin(angle);
  }
  return values;
}

class RoutingsOfATrainer : public testing::TestWithParam<Cut> {
 protected:
  // In place of what is stored as `name`: the same for each layer.
  void set(TrainingState& state, const std::string& name, const std::vector<double>& values) {
    bool found = false;
    for (size_t i = 0; i < setup_.store.size(); ++i) {
      const StoredParameter& stored = setup_.store[i];
      if (!stored.name.ends_with(name)) continue;
      found = true;
      std::vector<double> all;
      for (size_t k = 0; k < stored.members.size(); ++k) all.insert(all.end(), values.begin(), values.end());
      state.parameters[i] = runtime_testing::put(executor_, HostTensor::from_doubles(stored.type, all),
                                                 stored.placement, ArrayKind::Parameter);
    }
    ASSERT_TRUE(found) << name;
  }

  std::vector<std::vector<double>> bias(const TrainingState& state) const {
    std::vector<std::vector<double>> layers;
    for (size_t i = 0; i < setup_.store.size(); ++i) {
      if (!setup_.store[i].trained()) append_layers(layers, state.parameters[i]);
    }
    return layers;
  }

  TrainingSetup setup_ = setup_of(GetParam());
  Executor executor_{runtime_testing::client(), GetParam().mesh, Capabilities{}};
};

// The learning rate is 0, so that twenty steps differ by their routing alone. What each expert got shows in its bias.
TEST_P(RoutingsOfATrainer, DropNoTokenAndCompileNothing) {
  constexpr double kTokens = kRows * kLength, kEach = kTokens * kTopK / kExperts, kCoefficient = 1e-3;
  const std::vector<double> even(kExperts, 0), two = {100, 100, 0, 0, 0, 0};
  TrainingState state = initial_state(executor_, setup_, 7);
  set(state, "tok_embeddings.weight", unit_circle({kVocabulary, kWidth}, 0.25));
  set(state, "gate.weight", unit_circle({kExperts, kWidth}, 0));
  StepRunner runner(executor_, setup_);
  std::vector<int32_t> tokens;
  for (int64_t i = 0; i < kRows * kLength; ++i) tokens.push_back(static_cast<int32_t>(i % kVocabulary));
  const Dims rows = {setup_.shape.microbatches, setup_.shape.rows, kLength};
  Batch batch;
  batch.tokens = batch.labels = HostTensor::of<int32_t>(rows, tokens);
  batch.positions = batch.segment_ids = HostTensor(TensorType{DType::S32, rows});

  std::vector<double> losses;
  int64_t compiled = 0;
  for (int64_t step = 0; step < 20; ++step) {
    const bool extreme = step % 2 == 1;
    set(state, "expert_bias", extreme ? two : even);
    losses.push_back(to_host(runner.run(state, {step, 0, batch}).loss).to_doubles()[0]);
    EXPECT_TRUE(to_host(state.ok).to_doubles()[0] != 0);
    const std::vector<double> expected = extreme ? after(two, {kTokens, kTokens, 0, 0, 0, 0}, kCoefficient)
                                                 : after(even, std::vector<double>(kExperts, kEach), kCoefficient);
    EXPECT_EQ(bias(state)[0], expected) << "step " << step;
    if (extreme) {
      EXPECT_EQ(bias(state)[1], expected) << "step " << step;
    }
    if (step == 0) compiled = executor_.counters().compiles;
    EXPECT_NEAR(losses.back(), losses[step % 2], 1e-14 * losses[step % 2]) << "step " << step;
  }
  EXPECT_EQ(executor_.counters().compiles, compiled);
  EXPECT_GT(std::abs(losses[1] - losses[0]), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Cuts, RoutingsOfATrainer,
                         testing::Values(Cut{"whole"}, Cut{"dp2_tp2_scan_remat", kDp2Tp2, 2, true, true},
                                         Cut{"ep2_tp2", kEp2Tp2, 2, true, true}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tethys
