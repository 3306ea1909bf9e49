// The spine: the same training step recorded and run in different ways gives the same numbers. The reference has a
// client of one device and no mesh, scan, remat or accumulation; everything is float64, and every loss, norm, gradient,
// updated parameter and moment agrees to 1e-9 of its tensor's largest element.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "close.h"
#include "kernels/choices.h"
#include "packed_rows.h"
#include "support/double_matmul.h"
#include "training_testing.h"

namespace tethys::training_testing {
namespace {

constexpr int64_t kRows = 8;
constexpr int64_t kSeqLen = 12;
constexpr int64_t kSteps = 3;

// Heads in two groups, RoPE scaling that acts at this length, and a vocabulary that divides by none of the meshes.
const Model kModel{.dim = 16,
                   .layers = 2,
                   .heads = 4,
                   .kv_heads = 2,
                   .ffn = 24,
                   .vocab = 37,
                   .tied = false,
                   .norm_eps = 1e-5,
                   .theta = 10000,
                   .factor = 8,
                   .low = 1,
                   .high = 4,
                   .original = 8};

struct Result {
  std::vector<double> losses, norms;
  Named first_gradients, parameters, m, v;
};

Result train(const Variant& variant, const Model& model, const char* plugin) {
  Run run(model, variant, kRows, kSeqLen, plugin);
  Result result;
  for (int64_t step = 0; step < kSteps; ++step) {
    const PackedRows rows = packed_rows(step, kRows, kSeqLen, kModel.vocab);
    const Run::Outcome outcome =
        run.step(step, 0.01 / static_cast<double>(step + 1), rows.tokens, rows.labels, rows.positions, rows.segments);
    EXPECT_TRUE(outcome.ok);
    result.losses.push_back(outcome.loss);
    result.norms.push_back(outcome.norm);
    if (step == 0) result.first_gradients = run.gradients();
  }
  result.parameters = run.parameters();
  result.m = run.m();
  result.v = run.v();
  return result;
}

void expect_close_and_there(const std::vector<double>& got, const std::vector<double>& expected,
                            const std::string& what) {
  const bool there = std::any_of(expected.begin(), expected.end(), [](double x) { return x != 0; });
  EXPECT_TRUE(there) << what << " is zero, so that nothing is compared";
  expect_close(got, expected, what);
}

void expect_close_and_there(const Named& got, const Named& expected, const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (const auto& [name, values] : expected) {
    ASSERT_TRUE(got.contains(name)) << what << " of " << name;
    expect_close_and_there(got.at(name), values, what + " of " + name);
  }
}

void expect_same(const Variant& variant, const Model& model, const char* plugin) {
  SCOPED_TRACE(variant.name + " on " + plugin);
  static std::map<std::string, Result> references;
  const std::string key = fmt::format("{} {} {}", plugin, model.architecture, model.tied);
  if (!references.contains(key)) references[key] = train({.name = "reference", .mesh = {}, .remat = {}}, model, plugin);
  const Result& expected = references[key];
  const Result got = train(variant, model, plugin);
  expect_close_and_there(got.losses, expected.losses, "losses");
  expect_close_and_there(got.norms, expected.norms, "norms");
  expect_close_and_there(got.first_gradients, expected.first_gradients, "gradient");
  expect_close_and_there(got.parameters, expected.parameters, "parameter");
  expect_close_and_there(got.m, expected.m, "first moment");
  expect_close_and_there(got.v, expected.v, "second moment");
}

const RematPolicy kFull{RematPolicy::Kind::Full, {}};
const RematPolicy kSelective{RematPolicy::Kind::Selective, {"q", "attention_out"}};
const Mesh kFsdp2({{"dp_shard", 2}});
const Mesh kFsdp4({{"dp_shard", 4}});
const Mesh kHsdp({{"dp_replicate", 2}, {"dp_shard", 2}});
const Mesh kTp2({{"tp", 2}});
const Mesh kFsdpTp({{"dp_shard", 2}, {"tp", 2}});
const Mesh kAllAxes({{"dp_shard", 2}, {"cp", 2}, {"tp", 2}});

// Puts the foreign matmul in the place of every layer's w2 and wo.
void use_foreign_matmul(ConfigNode& root) {
  for (const char* glob : {"layers.*.feed_forward.w2", "layers.*.attention.wo"}) {
    for (const NamedNode& found : match_nodes(root, glob)) {
      const auto& linear = dynamic_cast<const LinearConfig&>(*found.node);
      replace_node(root, found.name,
                   std::make_unique<testing::DoubleMatmulLinearConfig>(linear.in, linear.out, linear.initial));
    }
  }
}

Variant spine() {
  return {.name = "scan, full remat, FSDP 4, accumulation, a foreign call",
          .mesh = kFsdp4,
          .scan = true,
          .remat = kFull,
          .microbatches = 2,
          .rewrite = use_foreign_matmul,
          .handlers = {testing::double_matmul_handler()},
          .kernels = {testing::double_matmul_kernel.name}};
}

class Spine : public ::testing::TestWithParam<const char*> {};

TEST_P(Spine, AllAtOnceEqualsThePlainStep) {
  const int64_t before = testing::double_matmul_runs();
  expect_same(spine(), kModel, GetParam());
  EXPECT_GT(testing::double_matmul_runs(), before) << "the foreign code was not called";
}

TEST_P(Spine, AForeignCallEqualsItsReference) {
  Variant variant{.name = "foreign call on one device", .mesh = {}, .remat = {}};
  variant.rewrite = use_foreign_matmul;
  variant.handlers = {testing::double_matmul_handler()};
  variant.kernels = {testing::double_matmul_kernel.name};
  expect_same(variant, kModel, GetParam());
}

TEST_P(Spine, EachWayOfRecordingEqualsThePlainStep) {
  const std::vector<Variant> variants = {
      {.name = "scan", .mesh = {}, .scan = true, .remat = {}},
      {.name = "unrolled full remat", .mesh = {}, .remat = kFull},
      {.name = "scan selective remat", .mesh = {}, .scan = true, .remat = kSelective},
      {.name = "accumulation over 4", .mesh = {}, .remat = {}, .microbatches = 4},
  };
  for (const Variant& variant : variants) expect_same(variant, kModel, GetParam());
}

TEST_P(Spine, EachMeshEqualsOneDevice) {
  std::vector<Variant> variants = {
      {.name = "FSDP 2", .mesh = kFsdp2, .remat = {}},
      {.name = "FSDP 4, scan", .mesh = kFsdp4, .scan = true, .remat = {}},
      {.name = "FSDP 4, weights kept", .mesh = kFsdp4, .remat = {}, .reshard_after_forward = false},
      {.name = "HSDP 2x2, scan, full remat", .mesh = kHsdp, .scan = true, .remat = kFull},
      {.name = "HSDP 2x2, accumulation", .mesh = kHsdp, .remat = {}, .microbatches = 2},
      {.name = "TP 2", .mesh = kTp2, .remat = {}},
      {.name = "TP 2, scan, selective remat", .mesh = kTp2, .scan = true, .remat = kSelective},
      {.name = "FSDP 2, TP 2, scan, full remat, accumulation",
       .mesh = kFsdpTp,
       .scan = true,
       .remat = kFull,
       .microbatches = 2},
  };
  for (const Variant& variant : variants) expect_same(variant, kModel, GetParam());
}

TEST_P(Spine, SharedTokensEqualOneDevice) {
  const Mesh cp2({{"cp", 2}});
  const Mesh tp4({{"tp", 4}});
  const std::vector<Variant> variants = {
      {.name = "TP 2, tokens shared between", .mesh = kTp2, .remat = {}, .sequence_parallel = true},
      {.name = "CP 2", .mesh = cp2, .remat = {}},
      {.name = "CP 2, head and tail, scan, full remat", .mesh = cp2, .scan = true, .remat = kFull, .head_tail = true},
      {.name = "more ranks than key heads", .mesh = tp4, .remat = {}, .sequence_parallel = true},
      {.name = "FSDP 2, CP 2, TP 2, accumulation",
       .mesh = kAllAxes,
       .scan = true,
       .remat = kFull,
       .microbatches = 2,
       .sequence_parallel = true,
       .head_tail = true},
  };
  for (const Variant& variant : variants) expect_same(variant, kModel, GetParam());
}

// Rows and chunks of several blocks, the last of them not full.
void use_chunked_kernels(ConfigNode& root) {
  Config config;
  const Origin origin{Origin::Source::Flag, "test"};
  config.set("kernels.attention", "chunked", origin);
  config.set("kernels.loss", "chunked", origin);
  config.set("kernels.attention_block", int64_t{3}, origin);
  config.set("kernels.loss_chunk", int64_t{5}, origin);
  apply_overrides(root, kernel_overrides(config));
}

TEST_P(Spine, ChunkedKernelsEqualTheirReferences) {
  std::vector<Variant> variants = {
      {.name = "chunked", .mesh = {}, .remat = {}},
      {.name = "chunked, scan, selective remat", .mesh = {}, .scan = true, .remat = kSelective},
      {.name = "chunked, FSDP 4, scan, full remat, accumulation",
       .mesh = kFsdp4,
       .scan = true,
       .remat = kFull,
       .microbatches = 2},
      {.name = "chunked, FSDP 2, CP 2, TP 2, scan, full remat",
       .mesh = kAllAxes,
       .scan = true,
       .remat = kFull,
       .sequence_parallel = true,
       .head_tail = true},
  };
  for (Variant& variant : variants) {
    variant.rewrite = use_chunked_kernels;
    expect_same(variant, kModel, GetParam());
  }
}

TEST_P(Spine, TiedEmbeddingsOnMeshes) {
  Model tied = kModel;
  tied.tied = true;
  expect_same({.name = "FSDP 4, scan", .mesh = kFsdp4, .scan = true, .remat = {}}, tied, GetParam());
  expect_same({.name = "FSDP 2, TP 2", .mesh = kFsdpTp, .remat = {}, .microbatches = 2}, tied, GetParam());
}

TEST_P(Spine, Qwen3WithItsNormalisedHeadsOnAllAxesEqualsOneDevice) {
  Model qwen3 = kModel;
  qwen3.architecture = "qwen3";
  qwen3.head_dim = 8;
  expect_same({.name = "FSDP 2, CP 2, TP 2, tokens shared between, accumulation",
               .mesh = kAllAxes,
               .scan = true,
               .remat = kFull,
               .microbatches = 2,
               .sequence_parallel = true,
               .head_tail = true},
              qwen3, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Plugins, Spine, ::testing::Values("xla_cpu.so", "openxla_cpu.so"), [](const auto& info) {
  return std::string(info.param).substr(0, std::string(info.param).find('.'));
});

}  // namespace
}  // namespace tethys::training_testing
