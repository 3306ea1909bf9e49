// Setup: what a configuration amounts to before any device is asked: degrees, mesh, the model with its store, and what
// the step needs to know. Commands that only look (inspect) and those that run share it.
//
//   TrainingSetup setup = set_up(config, std::nullopt);
//   RecordedStep step = record_training_step(*setup.model, setup.store, setup.shape, setup.step);
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/override.h"
#include "nn/language_model.h"
#include "nn/parameter_store.h"
#include "optim/schedule.h"
#include "train/degrees.h"
#include "train/flops.h"
#include "train/step.h"
#include "transforms/lower.h"

namespace tethys {

class Config;

struct Precision {
  DType storage = DType::F32;   // of parameters and moments
  DType compute = DType::F32;   // of activations
  DType gradient = DType::F32;  // that gradients are reduced in
};
Precision precision_of(const Config& config);

RematPolicy remat_of(const Config& config);

struct TrainingSetup {
  Degrees degrees;
  Mesh mesh;
  Precision precision;
  std::unique_ptr<LanguageModel> model;
  std::vector<StoredParameter> store;  // points into the model
  BatchShape shape;
  StepOptions step;
  GatherOptions gathers;
  bool split_offload = false;  // forward and backward run layer by layer (train/step_parts.h)
  Schedule schedule;
  double learning_rate = 0;           // the peak
  std::vector<int64_t> token_order;   // of a row's columns; empty: as they stand (token_order.h)
  Overridden overridden;              // what options changed in the model's config tree
  std::vector<std::string> warnings;  // what was asked for and does nothing

  int64_t tokens_per_step() const { return shape.microbatches * shape.rows * shape.seq_len; }
  int64_t rows_per_step() const { return shape.microbatches * shape.rows; }
};

// `devices` as in degrees_of. UserError for what does not fit.
TrainingSetup set_up(const Config& config, std::optional<int64_t> devices);

// The figures that FLOPs are counted from.
FlopsModel flops_model_of(const Config& config, LanguageModel& model);

}  // namespace tethys
