// Mix: from which of several sources each row of an endless list comes, so that each has its share of every stretch. It
// stores nothing: each place is computed by itself, in time that does not grow with it.
//
// The first source takes its share of all places, evenly spread (a Sturmian word: floor(n·share + offset) of the first
// n), the second its share of what is left, and so on; the seed gives the offsets. After n places each of K sources has
// come share·n times, to less than K − 1.
//
//   Mix mix({0.7, 0.3}, seed);
//   auto [source, index] = mix(1000);   // the row at place 1000 is the source's own row number `index`
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tethys {

class Mix {
 public:
  // Weights above 0, in any unit.
  Mix(std::span<const double> weights, uint64_t seed);

  struct Drawn {
    size_t source = 0;
    int64_t index = 0;  // how many of the source came before
  };
  Drawn operator()(int64_t place) const;

 private:
  // Of what the sources before it left, in units of 2^-64: exact, so that each place has one source however far it is.
  struct Share {
    uint64_t share = 0;
    uint64_t offset = 0;
    int64_t of_first(int64_t places) const;
  };

  std::vector<Share> shares_;  // of all sources but the last, which takes the rest
};

}  // namespace tethys
