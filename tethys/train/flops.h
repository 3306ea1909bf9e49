// FLOPs: what a model computes per token, counted as torchtitan counts, and what a device could do at most. MFU, the
// share of the peak that is used, compares only where both are named.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tethys {

struct FlopsModel {
  int64_t parameters = 0;
  int64_t embedding = 0;  // of these, those that are only looked up; 0 where they are the output projection too
  int64_t passed_by = 0;  // of these, those of the experts that a token does not go through
  int64_t layers = 0;
  int64_t heads = 0;
  int64_t query_key_dim = 0;  // of one head
  int64_t value_dim = 0;
};

// "8,030,261,248 parameters"; with experts "30,532,122,624 parameters, 3,353,032,704 of them for a token".
std::string parameters_text(const FlopsModel& model);

// Of attention's scores under a causal mask: all are counted (torchtitan), or the half that is not masked (MaxText).
enum class CountedScores : uint8_t { All, Causal };

// Forward and backward: 6 for each parameter of a matmul, and attention over `context` tokens.
double flops_per_token(const FlopsModel& model, int64_t context, CountedScores scores = CountedScores::All);

// The peak in bf16, FLOP/s of one device as PJRT counts devices, by its kind ("TPU v5p"); nothing if it is not known.
std::optional<double> peak_flops(std::string_view device_kind);

}  // namespace tethys
