// A model trained here and by PyTorch, from the same weights and tokens: tests/golden/llama3_torch/README.md.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "llama3_golden.h"
#include "optim/schedule.h"

namespace tethys::training_testing {

using llama3_formula::kRows;
using llama3_formula::kSeqLen;
using nlohmann::json;

// Relative, but for the losses and logits, of size 1 to 8.
struct Tolerances {
  double first_step;  // loss, norm, gradients and logits before anything is updated
  double loss, norm;
  double parameters;  // norms after the last step
};

// PyTorch's float32 and float64 runs are 3e-6 apart in loss and 6e-5 in norm; a mistake is at least 2.8e-4 in loss.
inline constexpr Tolerances kFloat32{.first_step = 1e-5, .loss = 1e-4, .norm = 1e-3, .parameters = 1e-6};
inline constexpr Tolerances kFloat64{.first_step = 1e-12, .loss = 1e-11, .norm = 1e-11, .parameters = 1e-11};

inline void expect_close(double ours, double theirs, double tolerance, const std::string& what) {
  EXPECT_LE(std::abs(ours - theirs), tolerance) << what << ": " << ours << ", torch " << theirs;
}

// Without what is not trained, which PyTorch's models do not have.
inline Named trained(const Run& run, Named named) {
  for (const StoredParameter& stored : run.store()) {
    for (const Parameter* member : stored.members) {
      if (!member->trained()) named.erase(member->name());
    }
  }
  return named;
}

inline void expect_norms(const Named& ours, const json& theirs, double relative, const std::string& what) {
  EXPECT_EQ(ours.size(), theirs.size());
  for (const auto& [name, values] : ours) {
    const double norm = std::sqrt(std::inner_product(values.begin(), values.end(), values.begin(), 0.0));
    const double their_norm = theirs.at(name);
    expect_close(norm, their_norm, relative * their_norm, what + name);
  }
}

inline HostTensor positions(const TensorType& rows) {
  HostTensor result(rows);
  for (size_t i = 0; i < result.as<int32_t>().size(); ++i) result.as<int32_t>()[i] = static_cast<int32_t>(i % kSeqLen);
  return result;
}

// [kRows, kSeqLen, vocab] of the first step's tokens, before training.
inline std::vector<double> first_logits(const Model& sizes, DType dtype) {
  const Config config = config_of(sizes);
  const Architecture& architecture = architecture_of(config);
  const std::unique_ptr<LanguageModel> model = architecture.configure(config)->build();
  const std::vector<StoredParameter> store =
      make_store(*model, architecture.plan({}), {.mesh = {}, .storage_dtype = dtype, .compute_dtype = dtype});
  Executor executor(cpu_client(1), Mesh(), {});
  Graph graph;
  std::vector<Value> parameters;
  std::vector<Array> arguments;
  auto put = [&](const HostTensor& tensor) { arguments.push_back(to_device(executor.devices(), tensor, {})); };
  for (const StoredParameter& p : store) {
    parameters.push_back(graph.input(p.type, p.name));
    put(p.trained() ? llama3_formula::weight(p.name, p.type, sizes.tied) : HostTensor(p.type));
  }
  bind_store(graph, store, parameters);
  const TensorType rows{DType::S32, {kRows, kSeqLen}};
  const TokenRows inputs{graph.input(rows, "tokens"), graph.input(rows, "positions"), graph.input(rows, "segments")};
  graph.set_outputs({model->logits(inputs).value()});
  put(llama3_formula::batch(0, sizes.vocab, false).ids);
  put(positions(rows));
  put(HostTensor(rows));
  return to_host(executor.call(graph, arguments)[0]).to_doubles();
}

inline void expect_logits(const json& golden_case, DType dtype, double tolerance) {
  const json& theirs = golden_case.at("float64").at("first_step");
  const Model sizes = model_of(golden_case);
  const std::vector<double> logits = first_logits(sizes, dtype);
  for (size_t i = 0; i < theirs.at("positions").size(); ++i) {
    const double* row = logits.data() + theirs.at("positions").at(i).get<int64_t>() * sizes.vocab;
    double total = 0;
    for (int64_t id = 0; id < sizes.vocab; ++id) total += std::exp(row[id]);
    expect_close(std::log(total), theirs.at("logsumexp").at(i), tolerance, fmt::format("log-sum-exp {}", i));
    const json& probed = theirs.at("logits").at(i);
    for (size_t id = 0; id < probed.size(); ++id) {
      expect_close(row[id], probed.at(id), tolerance, fmt::format("logit {} of id {}", i, id));
    }
  }
}

// The schedule of the recorded runs. What else they were trained with are the defaults of the step.
inline Schedule recorded_schedule(const json& golden) {
  const json& t = golden.at("training");
  EXPECT_EQ(t.at("beta1"), AdamW{}.beta1);
  EXPECT_EQ(t.at("beta2"), AdamW{}.beta2);
  EXPECT_EQ(t.at("eps"), AdamW{}.eps);
  EXPECT_EQ(t.at("max_norm"), StepOptions{}.max_norm);
  return {.total = t.at("steps"), .warmup = t.at("warmup_steps"), .decay_ratio = t.at("decay_ratio")};
}

// A case of tests/golden/FOLDER/golden.json.
inline void reproduce(const char* folder, const std::string& name, const Variant& variant) {
  const json& golden = golden_of(folder);
  const json& golden_case = golden.at("cases").at(name);
  const bool wide_run = variant.dtype == DType::F64;
  const Tolerances tolerances = wide_run ? kFloat64 : kFloat32;
  const json& theirs = golden_case.at(wide_run ? "float64" : "float32");
  const json& exact = golden_case.at("float64");
  expect_logits(golden_case, variant.dtype, tolerances.first_step);

  const Model sizes = model_of(golden_case);
  Run run(sizes, variant, kRows, kSeqLen);
  const Schedule schedule = recorded_schedule(golden);
  for (int64_t step = 0; step < schedule.total; ++step) {
    const double rate = golden.at("training").at("lr").get<double>() * lr_factor(schedule, step);
    EXPECT_DOUBLE_EQ(rate, golden_case.at("lr").at(step));
    const llama3_formula::Batch batch = llama3_formula::batch(step, sizes.vocab, golden_case.at("ignore_labels"));
    const Run::Outcome ours = run.step(step, rate, batch.ids, batch.labels);
    const std::string at = fmt::format(" of step {}", step);
    const double norm = theirs.at("grad_norm").at(step);
    expect_close(ours.loss, theirs.at("loss").at(step), tolerances.loss, "loss" + at);
    expect_close(ours.norm, norm, tolerances.norm * norm, "norm" + at);
    if (step > 0) continue;
    // Against float64: torch's float32 norm has lost four digits in its sum of squares.
    const double exact_norm = exact.at("grad_norm").at(step);
    expect_close(ours.loss, exact.at("loss").at(step), tolerances.first_step, "first loss");
    expect_close(ours.norm, exact_norm, tolerances.first_step * exact_norm, "first norm");
    expect_norms(trained(run, run.gradients()), exact.at("first_step").at("gradient_norms"), tolerances.first_step,
                 "gradient of ");
  }
  expect_norms(trained(run, run.parameters()), theirs.at("final_parameter_norms"), tolerances.parameters, "trained ");
}

inline Variant torch_run_in(DType dtype) {
  Variant variant;
  variant.dtype = dtype;
  variant.optimised = true;
  variant.balances_experts = false;
  return variant;
}

// Layers in a loop, computed again, over two microbatches.
inline Variant torch_run_in_parts() {
  Variant variant = torch_run_in(DType::F64);
  variant.scan = true;
  variant.remat = {RematPolicy::Kind::Full, {}};
  variant.microbatches = 2;
  return variant;
}

}  // namespace tethys::training_testing
