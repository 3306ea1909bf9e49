#include "train/sampling.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace tethys {
namespace {

bool is_likelier(const Candidate& a, const Candidate& b) {
  return a.share != b.share ? a.share > b.share : a.id < b.id;
}

double total_of(std::span<const Candidate> candidates) {
  double total = 0;
  for (const Candidate& candidate : candidates) total += candidate.share;
  return total;
}

// The fewest of the likeliest whose shares reach `share` of all.
void keep_share(std::vector<Candidate>& all, double share) {
  const double wanted = share * total_of(all);
  std::sort(all.begin(), all.end(), is_likelier);
  double sum = 0;
  size_t kept = 0;
  while (kept < all.size() && sum < wanted) sum += all[kept++].share;
  all.resize(kept);
}

int32_t likeliest_of(std::span<const double> logits) {
  require(!logits.empty(), "a choice among no tokens");
  size_t best = 0;
  for (size_t i = 0; i < logits.size(); ++i) {
    if (std::isnan(logits[i])) throw Error(fmt::format("the logit of token {} is not a number", i));
    if (logits[i] > logits[best]) best = i;
  }
  if (std::isinf(logits[best])) throw Error(fmt::format("the logit of token {} is infinite", best));
  return static_cast<int32_t>(best);
}

}  // namespace

std::vector<Candidate> candidates(std::span<const double> logits, const Sampling& sampling) {
  logits = logits.first(std::min(logits.size(), static_cast<size_t>(sampling.vocab_size)));
  const int32_t likeliest = likeliest_of(logits);
  if (sampling.temperature <= 0) return {{likeliest, 1}};
  std::vector<Candidate> all(logits.size());
  for (size_t i = 0; i < logits.size(); ++i) {
    all[i] = {static_cast<int32_t>(i),
              std::exp((logits[i] - logits[static_cast<size_t>(likeliest)]) / sampling.temperature)};
  }
  if (sampling.top_k > 0 && sampling.top_k < static_cast<int64_t>(all.size())) {
    std::nth_element(all.begin(), all.begin() + sampling.top_k, all.end(), is_likelier);
    all.resize(static_cast<size_t>(sampling.top_k));
  }
  if (sampling.top_p < 1) keep_share(all, sampling.top_p);
  std::sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) { return a.id < b.id; });
  const double total = total_of(all);
  for (Candidate& candidate : all) candidate.share /= total;
  return all;
}

int32_t draw(std::span<const Candidate> candidates, double uniform) {
  require(!candidates.empty(), "a choice among no tokens");
  const double place = uniform * total_of(candidates);
  double sum = 0;
  int32_t chosen = candidates.front().id;
  for (const Candidate& candidate : candidates) {
    if (candidate.share <= 0) continue;
    chosen = candidate.id;
    sum += candidate.share;
    if (place < sum) break;
  }
  return chosen;
}

}  // namespace tethys
