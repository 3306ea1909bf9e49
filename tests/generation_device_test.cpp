// Generation by prefill, decode and a cache gives what the model gives for the whole text at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "train/fit.h"
#include "train/generation.h"
#include "training_testing.h"

namespace tethys::training_testing {
namespace {

// Heads in groups, tied, and RoPE scaling that acts at this length.
const Model kModel{.dim = 32,
                   .layers = 2,
                   .heads = 8,
                   .kv_heads = 2,
                   .ffn = 48,
                   .vocab = 103,
                   .tied = true,
                   .theta = 10000,
                   .original = 16};
// Longer than the shortest prefill, so that rows are padded, and decode passes a power of two.
constexpr int64_t kPrompt = 21, kLength = 45;

Model with_experts() {
  Model model = kModel;
  model.architecture = "qwen3_moe";
  model.experts = 8;
  model.experts_per_token = 2;
  return model;
}

struct Case {
  const char* name;
  const char* dtype;
  Model model;
};

Config generation_config(const Model& model, const std::string& dtype) {
  Config config = config_of(model);
  const Origin origin{Origin::Source::Flag, "test"};
  config.set("training.dtype", dtype, origin);
  config.set("training.local_batch_size", int64_t{1}, origin);
  return config;
}

std::vector<int32_t> formula_tokens(int64_t count) {
  std::vector<int32_t> tokens;
  for (int64_t i = 0; i < count; ++i) tokens.push_back(static_cast<int32_t>((i * i * 7 + i * 13 + 5) % kModel.vocab));
  return tokens;
}

// The logits after every token of a text of kLength tokens, computed anew for each text.
class WholeText {
 public:
  WholeText(Executor& executor, const TrainingSetup& setup, std::vector<Array> parameters)
      : executor_(executor), parameters_(std::move(parameters)) {
    Graph graph;
    std::vector<Value> values;
    for (const StoredParameter& p : setup.store) values.push_back(graph.input(p.type, p.name, p.placement));
    bind_store(graph, setup.store, values);
    const TensorType type{DType::S32, {1, kLength}};
    const TokenRows rows{graph.input(type, "tokens", Placement{}), graph.input(type, "positions", Placement{}),
                         graph.input(type, "segments", Placement{})};
    graph.set_outputs({setup.model->logits(rows).value()});
    program_ = executor.compile(make_program(graph, executor.mesh(), executor.capabilities()));
  }

  // After the last of `text`; what follows it in the row is not seen.
  std::vector<double> logits_after(std::span<const int32_t> text) {
    HostTensor tokens(TensorType{DType::S32, {1, kLength}}), positions = tokens;
    std::copy(text.begin(), text.end(), tokens.as<int32_t>().begin());
    for (size_t i = 0; i < kLength; ++i) positions.as<int32_t>()[i] = static_cast<int32_t>(i);
    std::vector<Array> arguments = parameters_;
    for (const HostTensor& row : {tokens, positions, HostTensor(tokens.type())}) {
      arguments.push_back(to_device(executor_.devices(), row, {}));
    }
    const std::vector<double> all = to_host(executor_.run(*program_, std::move(arguments)).at(0)).to_doubles();
    const auto begin = all.begin() + static_cast<int64_t>(text.size() - 1) * kModel.vocab;
    return {begin, begin + kModel.vocab};
  }

 private:
  Executor& executor_;
  std::vector<Array> parameters_;
  std::shared_ptr<const CompiledProgram> program_;
};

class Generation : public ::testing::TestWithParam<Case> {
 protected:
  Generation()
      : config_(generation_config(GetParam().model, GetParam().dtype)),
        setup_(set_up(config_, 1)),
        executor_(cpu_client(1), setup_.mesh, {"cpu", {}}),
        programs_(compile_generation(executor_, setup_, kPrompt, kLength)) {
    for (const StoredParameter& p : setup_.store) {
      parameters_.push_back(to_device(executor_.devices(), llama3_formula::weight(p.name, p.type, true), p.placement));
    }
  }

  Config config_;
  TrainingSetup setup_;
  Executor executor_;
  GenerationPrograms programs_;
  std::vector<Array> parameters_;
};

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  EXPECT_EQ(a.size(), b.size());
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

TEST_P(Generation, GivesTheLogitsOfTheWholeTextAfterEveryToken) {
  const double tolerance = std::string(GetParam().dtype) == "float64" ? 1e-9 : 1e-5;
  WholeText whole(executor_, setup_, parameters_);
  Generator generator(executor_, programs_, parameters_);
  const std::vector<int32_t> text = formula_tokens(kLength);
  // A second text finds nothing of the first.
  for (const int64_t prompt : {kPrompt, int64_t{1}}) {
    const std::span<const int32_t> all(text);
    std::vector<double> logits = generator.prefill(all.first(static_cast<size_t>(prompt)));
    for (int64_t known = prompt; known < kLength; ++known) {
      const std::vector<double> expected = whole.logits_after(all.first(static_cast<size_t>(known)));
      EXPECT_LE(largest_difference(logits, expected), tolerance) << "after " << known << " tokens";
      EXPECT_GT(largest_difference(expected, std::vector<double>(kModel.vocab)), 0.1);
      logits = generator.decode(text[static_cast<size_t>(known)]);
    }
  }
}

TEST_P(Generation, SaysWhatTheWholeTextFormSays) {
  const Sampling sampling{.temperature = 0.8, .top_k = 40, .top_p = 0.95, .seed = 7, .vocab_size = 100};
  WholeText whole(executor_, setup_, parameters_);
  const std::vector<int32_t> prompt = formula_tokens(kPrompt);
  std::vector<int32_t> expected = prompt;
  std::mt19937_64 random(sampling.seed);
  while (static_cast<int64_t>(expected.size()) < kLength) {
    expected.push_back(draw(candidates(whole.logits_after(expected), sampling), uniform(random)));
  }
  Generator generator(executor_, programs_, parameters_);
  std::vector<int32_t> got = prompt;
  const auto tell = [&](int32_t id) {
    got.push_back(id);
    return true;
  };
  const GenerationSpeed speed = generator.run(prompt, kLength - kPrompt, sampling, tell);
  EXPECT_EQ(got, expected);
  EXPECT_EQ(speed.prompt_tokens, kPrompt);
  EXPECT_EQ(speed.tokens, kLength - kPrompt - 1);  // the last one is chosen and not run
  EXPECT_GT(speed.decode_seconds, 0);

  // The fourth of them as an end, unless it came before.
  Sampling ended = sampling;
  ended.ends = {-1, expected[kPrompt + 3]};
  const auto end = std::find(expected.begin() + kPrompt, expected.end(), ended.ends[1]);
  got = prompt;
  generator.run(prompt, kLength - kPrompt, ended, tell);
  EXPECT_EQ(got, std::vector<int32_t>(expected.begin(), end));
  // Or until it is told to be enough.
  got = prompt;
  generator.run(prompt, kLength - kPrompt, sampling, [&](int32_t id) {
    got.push_back(id);
    return got.size() < kPrompt + 5;
  });
  EXPECT_EQ(got, std::vector<int32_t>(expected.begin(), expected.begin() + kPrompt + 5));
}

INSTANTIATE_TEST_SUITE_P(Dtypes, Generation,
                         ::testing::Values(Case{"float32", "float32", kModel}, Case{"float64", "float64", kModel},
                                           Case{"experts_in_float64", "float64", with_experts()}),
                         [](const auto& info) { return std::string(info.param.name); });

using GenerationFloat32 = Generation;

TEST_P(GenerationFloat32, HasLengthsOfPowersOfTwoAndACacheThatIsDonatedFromTokenToToken) {
  EXPECT_EQ(programs_.prompt_length, 32);
  EXPECT_EQ(programs_.cache_length, 64);
  // Keys and values of two layers: [1, 2 heads, 64 places, 4].
  const int64_t cache = 2 * 2 * 2 * 64 * 4 * 4;
  EXPECT_EQ(programs_.decode->memory().aliased, cache);
  EXPECT_GE(programs_.decode->memory().outputs, cache);
  Generator generator(executor_, programs_, parameters_);
  generator.prefill(formula_tokens(kPrompt));
  const int64_t live = executor_.ledger().live(pjrt::MemoryKind::Default);
  for (int i = 0; i < 3; ++i) {
    generator.decode(1);
    EXPECT_EQ(executor_.ledger().live(pjrt::MemoryKind::Default), live);
  }
}

TEST_P(GenerationFloat32, ThatDoesNotFitIsRefusedWithBothFigures) {
  Config config(with_training_options({int_option("length", 24, at_least(1), "")}));
  const auto refusal = [&](int64_t memory) -> std::string {
    try {
      check_generation_fits(programs_, memory, kLength, config);
    } catch (const DoesNotFitError& error) {
      return error.what();
    }
    return "fits";
  };
  EXPECT_EQ(refusal(programs_.bytes()), "fits");
  const std::string message = refusal(programs_.bytes() - 1);
  EXPECT_TRUE(message.starts_with("a text of 45 tokens needs 0.0 GiB")) << message;
  EXPECT_NE(message.find("lower length = 24 (default)"), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(Dtypes, GenerationFloat32, ::testing::Values(Case{"float32", "float32", kModel}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tethys::training_testing
