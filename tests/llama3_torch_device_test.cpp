// Llama 3 trained here and by PyTorch, from the same weights and tokens.
#include "torch_testing.h"

namespace tethys::training_testing {
namespace {

TEST(Llama3Torch, TheDebugFlavourLearnsAsInPyTorch) {
  reproduce("llama3_torch", "debugmodel", torch_run_in(DType::F32));
}

TEST(Llama3Torch, GroupedHeadsTiedEmbeddingsAndScaledRotationsLearnAsInPyTorch) {
  reproduce("llama3_torch", "gqa_tied", torch_run_in(DType::F32));
}

TEST(Llama3Torch, IgnoredLabelsDoNotCountAsInPyTorch) {
  reproduce("llama3_torch", "gqa_tied_ignored_labels", torch_run_in(DType::F32));
}

TEST(Llama3Torch, TwentyStepsInFloat64AgreeToElevenDigits) {
  reproduce("llama3_torch", "gqa_tied", torch_run_in(DType::F64));
}

TEST(Llama3Torch, LayersInALoopComputedAgainOverTwoMicrobatchesLearnAsInPyTorch) {
  reproduce("llama3_torch", "gqa_tied_ignored_labels", torch_run_in_parts());
}

}  // namespace
}  // namespace tethys::training_testing
