// Qwen3 trained here and by PyTorch, from the same weights and tokens.
#include "torch_testing.h"

namespace tethys::training_testing {
namespace {

TEST(Qwen3Torch, NormalisedHeadsWiderThanTheirShareLearnAsInPyTorch) {
  reproduce("qwen3_torch", "tied", torch_run_in(DType::F32));
}

TEST(Qwen3Torch, IgnoredLabelsDoNotCountAsInPyTorch) {
  reproduce("qwen3_torch", "untied_ignored_labels", torch_run_in(DType::F32));
}

TEST(Qwen3Torch, LayersInALoopComputedAgainOverTwoMicrobatchesAgreeToElevenDigits) {
  reproduce("qwen3_torch", "untied_ignored_labels", torch_run_in_parts());
}

TEST(Qwen3MoeTorch, ExpertsAndTheirRouterLearnAsInPyTorch) {
  reproduce("qwen3_moe_torch", "untied", torch_run_in(DType::F32));
}

TEST(Qwen3MoeTorch, IgnoredLabelsDoNotCountAsInPyTorch) {
  reproduce("qwen3_moe_torch", "tied_ignored_labels", torch_run_in(DType::F32));
}

TEST(Qwen3MoeTorch, TwentyStepsInFloat64AgreeToElevenDigits) {
  reproduce("qwen3_moe_torch", "untied", torch_run_in(DType::F64));
}

TEST(Qwen3MoeTorch, LayersInALoopComputedAgainOverTwoMicrobatchesAgreeToElevenDigits) {
  reproduce("qwen3_moe_torch", "tied_ignored_labels", torch_run_in_parts());
}

}  // namespace
}  // namespace tethys::training_testing
