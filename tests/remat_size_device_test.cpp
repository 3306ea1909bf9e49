// Recomputation and loops show in the size of a program's temporaries, and by as much as the shapes say.
//
// A step at depth L holds, for each layer, its residuals (R bytes: what the backward reads of the forward) and its
// gradients (G), besides a part that does not depend on L. In a scan both are stacks that live through the whole
// backward, so a layer adds R + G. Written out, a layer's residuals are free when its gradients are made, so the peak
// moves by max(R, G). Two depths give the slope, which leaves out all else.
#include <gtest/gtest.h>

#include <algorithm>

#include "training_testing.h"

namespace tethys::training_testing {
namespace {

constexpr int64_t kB = 4, kS = 256;                    // rows, tokens
constexpr int64_t kD = 256, kH = 8, kK = 4, kF = 768;  // width, heads, key heads, ffn
constexpr double kWidth = 4.0 * kB * kS * kD;          // bytes of one activation [B, S, D]
constexpr double kKeys = kWidth * kK / kH;             // [B, S, K, E]
constexpr double kHidden = kWidth * kF / kD;           // [B, S, F]
constexpr double kStatistic = 4.0 * kB * kS;           // one number a token
constexpr double kScores = 4.0 * kB * kH * kS * kS;    // [B, H, S, S]
constexpr double kGradients = 4.0 * (2 * kD + 2 * kD * kD + 2 * kD * kD * kK / kH + 3 * kD * kF);  // of a layer
constexpr double kTolerance = 0.05;

// What remat selective is told to keep in these tests.
const std::vector<std::string> kNames = {"q", "k", "v", "attention_out"};

// With remat full the backward of a layer has the layer's input and nothing else.
constexpr double kFull = kWidth;
// The input, q, k, v, and attention's result with its log-sum-exp, a number per head and token.
constexpr double kSelective = kFull + kWidth + 2 * kKeys + kWidth + kH * kStatistic;
// Besides these: attention's result as wo reads it; of each norm its statistic, what it has normalised and what the
// matrices read; the sum after attention; and five values inside the feed-forward (w1 x, its logistic, the gate, w3 x,
// their product).
constexpr double kNone = kSelective + kWidth + 2 * (kStatistic + 2 * kWidth) + kWidth + 5 * kHidden;

double temporaries(int64_t layers, bool scan, const RematPolicy& remat) {
  Model sizes;
  sizes.dim = kD;
  sizes.layers = layers;
  sizes.heads = kH;
  sizes.kv_heads = kK;
  sizes.ffn = kF;
  sizes.vocab = 512;
  const std::unique_ptr<LanguageModel> model = llama_config(config_of(sizes))->build();
  model->set_layer_options({.scan = scan, .checkpoint = remat.kind != RematPolicy::Kind::None});
  const std::vector<StoredParameter> store = make_store(*model, llama_plan({}), {.mesh = {}, .stack_layers = scan});
  StepOptions options;
  options.remat = remat;
  const RecordedStep step = record_training_step(*model, store, {1, kB, kS}, options);
  // What is assigned to memory does not depend on how well the code of each op is optimised, and compiles faster.
  static Executor executor(cpu_client(1), Mesh(), {},
                           {.compiler_options = {{"xla_backend_optimization_level", int64_t{0}}}});
  const auto program = executor.compile(make_program(*step.graph, Mesh(), executor.capabilities(), step.aliases));
  return static_cast<double>(program->memory().temporaries);
}

// Bytes that one more layer adds.
double slope(RematPolicy::Kind kind, bool scan) {
  const RematPolicy remat{kind, kNames};
  const double added = (temporaries(4, scan, remat) - temporaries(2, scan, remat)) / 2;
  std::printf("%s, remat %d: %.3f MB a layer\n", scan ? "scan" : "written out", static_cast<int>(kind), added / 1e6);
  return added;
}

void expect_near(double bytes, double predicted) {
  EXPECT_NEAR(bytes / predicted, 1, kTolerance) << bytes << " bytes, predicted " << predicted;
}

TEST(RematSize, InALoopALayerAddsItsResidualsAndItsGradients) {
  expect_near(slope(RematPolicy::Kind::None, true), kNone + kGradients);
  expect_near(slope(RematPolicy::Kind::Selective, true), kSelective + kGradients);
  expect_near(slope(RematPolicy::Kind::Full, true), kFull + kGradients);
}

TEST(RematSize, WrittenOutALayerAddsItsResidualsOrItsGradients) {
  expect_near(slope(RematPolicy::Kind::Selective, false), std::max(kSelective, kGradients));
  expect_near(slope(RematPolicy::Kind::Full, false), std::max(kFull, kGradients));
  // Here nothing tells the compiler what to compute twice: besides the residuals it may keep attention's scores and
  // their exponentials, which forward and backward both compute.
  const double none = slope(RematPolicy::Kind::None, false);
  EXPECT_GT(none, kNone * (1 - kTolerance));
  EXPECT_LT(none, (kNone + 2 * kScores) * (1 + kTolerance));
}

}  // namespace
}  // namespace tethys::training_testing
