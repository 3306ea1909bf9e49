// Whether a run fits into the memory of the machine that its virtual devices share. A device with memory of its own
// says so itself; on a CPU the system would let the run begin, and kill it or swap for ever.
//
//   check_state_fits(setup, memory_of_devices(config), config);      // before anything is made
//   check_step_fits(*runner.memory(), setup, memory_of_devices(config), config);
#pragma once

#include "base/error.h"
#include "pjrt/executable.h"
#include "train/generation.h"
#include "train/setup.h"

namespace tethys {

class DoesNotFitError : public Error {
 public:
  using Error::Error;
};

// Of the memory that the devices share; those of other platforms know their own, and nothing is too large here.
int64_t memory_of_devices(const Config& config);

// Bytes of parameters and optimizer state on all devices; more than 64 bits count, of the largest models on many.
double state_bytes(const TrainingSetup& setup);
// Bytes of the host's memory that hold a copy of the state while it is saved; 0 if the steps wait for saves.
double save_copy_bytes(const TrainingSetup& setup, const Config& config);

// DoesNotFitError, which names what is needed, what there is, and the options to lower, if `physical` bytes are less.
void check_state_fits(const TrainingSetup& setup, int64_t physical, const Config& config);
// Of a run that only reads its parameters; `dtype_option` is what makes them narrower.
void check_parameters_fit(const TrainingSetup& setup, int64_t physical, const Config& config,
                          const std::string& dtype_option);
// `step` is what the compiler planned for one device.
void check_step_fits(const pjrt::MemoryStats& step, const TrainingSetup& setup, int64_t physical, const Config& config);
// `program` is that of a batch without a backward.
void check_evaluation_fits(const pjrt::MemoryStats& program, const TrainingSetup& setup, int64_t physical,
                           const Config& config);
// Of parameters, cache and what the programs need besides; `length` is that of the text, with the prompt's tokens.
void check_generation_fits(const GenerationPrograms& programs, int64_t physical, int64_t length, const Config& config);

}  // namespace tethys
