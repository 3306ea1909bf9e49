// Permutation: a keyed shuffle of 0 … size-1 that stores nothing: each place is computed by itself. So the order of a
// billion rows costs no memory, and a run resumed at any step sees what it would have seen.
//
// A Feistel network (Luby and Rackoff 1988) over the next even power of two, walked until it lands inside (Black and
// Rogaway 2002).
//
//   Permutation order(rows, seed, epoch);
//   order(0);   // the row that comes first
#pragma once

#include <cstdint>

namespace tethys {

class Permutation {
 public:
  Permutation(int64_t size, uint64_t seed, uint64_t epoch);

  int64_t operator()(int64_t index) const;

 private:
  uint64_t scramble(uint64_t value) const;

  uint64_t size_;
  uint64_t key_;
  int half_bits_ = 0;
};

}  // namespace tethys
