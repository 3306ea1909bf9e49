// Numbers of two runs, one held to the other.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace tethys {

// To 1e-9: max|a − b| ≤ 1e-9 · max|b|.
inline void expect_close(const std::vector<double>& got, const std::vector<double>& expected, const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  double largest = 0, error = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    largest = std::max(largest, std::abs(expected[i]));
    error = std::max(error, std::abs(got[i] - expected[i]));
  }
  EXPECT_LE(error, 1e-9 * largest) << what;
}

}  // namespace tethys
