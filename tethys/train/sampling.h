// Sampling: which token follows, given the model's logits. On the host, and the same on every machine.
//
//   std::vector<Candidate> likely = candidates(logits, {.temperature = 0.8, .top_k = 50, .top_p = 0.95});
//   int32_t next = draw(likely, uniform(random));
#pragma once

#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <vector>

namespace tethys {

struct Sampling {
  double temperature = 0;  // 0: always the likeliest token
  int64_t top_k = 0;       // only so many of the likeliest; 0: all
  double top_p = 1;        // of these the fewest that have such a share together
  uint64_t seed = 0;
  std::vector<int32_t> ends = {};  // the tokens that end a text
  // Only lower ids are chosen: a model may have more of them than its tokenizer.
  int64_t vocab_size = std::numeric_limits<int64_t>::max();
};

struct Candidate {
  int32_t id = 0;
  double share = 0;  // of the probability that is left
  bool operator==(const Candidate&) const = default;
};

// The tokens that may follow, by id, with shares that add up to 1. The temperature divides the logits; then top_k
// chooses, then top_p. Of equals the lower ids stay. Error if a logit is no number or infinite upward.
std::vector<Candidate> candidates(std::span<const double> logits, const Sampling& sampling);

// The candidate into whose share a number in [0, 1) falls.
int32_t draw(std::span<const Candidate> candidates, double uniform);

// In [0, 1); unlike the standard library's distributions the same everywhere.
inline double uniform(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

}  // namespace tethys
