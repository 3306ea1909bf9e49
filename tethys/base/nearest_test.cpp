#include "base/nearest.h"

#include <gtest/gtest.h>

namespace tethys {
namespace {

TEST(EditDistance, HasThePublishedValues) {
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("saturday", "sunday"), 3u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("same", "same"), 0u);
}

TEST(EditDistance, CountsASwapOfNeighboursAsOne) {
  EXPECT_EQ(edit_distance("steps", "setps"), 1u);
  EXPECT_EQ(edit_distance("ab", "ba"), 1u);
  EXPECT_EQ(edit_distance("ca", "abc"), 3u);
}

TEST(Nearest, IsTheClosestAndTheFirstOfEquals) {
  EXPECT_EQ(nearest_name("stpes", {"seq_len", "steps", "seed"}), "steps");
  EXPECT_EQ(nearest_name("x", {"a", "b"}), "a");
  EXPECT_EQ(nearest_name("x", {}), "");
}

TEST(Nearest, IsTheNameOfABeginning) {
  EXPECT_EQ(nearest_name("llama3_debug", {"llama3_1b", "llama3_debugmodel"}), "llama3_debugmodel");
  EXPECT_EQ(nearest_name("see", {"sef", "seed"}), "sef");
}

}  // namespace
}  // namespace tethys
