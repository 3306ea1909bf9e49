#include "data/loader/permutation.h"

#include <bit>
#include <utility>

#include "base/error.h"

namespace tethys {
namespace {

// Four rounds do for halves of many bits; for the few bits of a small corpus it takes more until each row is equally
// likely to come at each place (measured: evenly from 12 on).
constexpr uint64_t kRounds = 12;

// A bijection of 64 bits in which each bit reaches each (the finaliser of SplitMix64, Steele et al. 2014).
constexpr uint64_t mix_bits(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

}  // namespace

Permutation::Permutation(int64_t size, uint64_t seed, uint64_t epoch)
    : size_(static_cast<uint64_t>(size)), key_(mix_bits(mix_bits(seed + 0x9e3779b97f4a7c15ULL) ^ epoch)) {
  require(size >= 1, "a permutation of {} things", size);
  half_bits_ = (std::bit_width(size_ - 1) + 1) / 2;
}

uint64_t Permutation::scramble(uint64_t value) const {
  uint64_t mask = (uint64_t{1} << half_bits_) - 1;
  uint64_t left = value >> half_bits_, right = value & mask;
  for (uint64_t round = 0; round < kRounds; ++round) {
    uint64_t mixed = mix_bits(key_ + mix_bits(right * kRounds + round + 1));
    left = std::exchange(right, (left ^ mixed) & mask);
  }
  return left << half_bits_ | right;
}

int64_t Permutation::operator()(int64_t index) const {
  require(index >= 0 && static_cast<uint64_t>(index) < size_, "place {} in a permutation of {}", index, size_);
  auto value = static_cast<uint64_t>(index);
  do {
    value = scramble(value);
  } while (value >= size_);
  return static_cast<int64_t>(value);
}

}  // namespace tethys
