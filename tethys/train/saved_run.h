// SavedRun: a run as its checkpoints see it: where they are, and what they must agree with.
#pragma once

#include <cstdint>
#include <string>

#include "checkpoint/store.h"
#include "train/setup.h"

namespace tethys {

class Config;
class Executor;

struct SavedRun {
  const Config& config;
  const CheckpointStore& checkpoints;
  Executor& executor;
  const TrainingSetup& setup;
  uint64_t seed = 0;
  std::string fingerprint;  // what a checkpoint's place in the data depends on
};

}  // namespace tethys
