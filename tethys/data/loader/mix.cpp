#include "data/loader/mix.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "base/error.h"

namespace tethys {
namespace {

constexpr double kMost = 0x1.fffffffffffffp63;  // the largest double below 2^64

}  // namespace

Mix::Mix(std::span<const double> weights, uint64_t seed) {
  require(!weights.empty(), "a mix of nothing");
  std::mt19937_64 random(seed);
  std::vector<double> left(weights.begin(), weights.end());  // of a source and all after it
  for (size_t i = left.size() - 1; i-- > 0;) left[i] += left[i + 1];
  for (size_t i = 0; i < weights.size(); ++i) {
    require(weights[i] > 0 && std::isfinite(left[i]), "weight {} in a mix", weights[i]);
    if (i + 1 == weights.size()) break;
    shares_.push_back({static_cast<uint64_t>(std::min(std::ldexp(weights[i] / left[i], 64), kMost)), random()});
  }
}

int64_t Mix::Share::of_first(int64_t places) const {
  const auto product = static_cast<unsigned __int128>(places) * share;
  return static_cast<int64_t>((product + offset) >> 64);
}

Mix::Drawn Mix::operator()(int64_t place) const {
  require(place >= 0, "place {} of a mix", place);
  for (size_t source = 0; source < shares_.size(); ++source) {
    const int64_t before = shares_[source].of_first(place);
    if (shares_[source].of_first(place + 1) > before) return {source, before};
    place -= before;
  }
  return {shares_.size(), place};
}

}  // namespace tethys
