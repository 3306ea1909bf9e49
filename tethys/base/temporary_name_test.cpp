#include "base/temporary_name.h"

#include <gtest/gtest.h>

namespace tethys {
namespace {

TEST(TemporaryName, IsBesideTheFileAndTellsItsTarget) {
  const Path first = temporary_name("run/config.toml"), second = temporary_name("run/config.toml");
  EXPECT_NE(first, second);
  EXPECT_EQ(first.parent_path(), "run");
  EXPECT_EQ(target_of_temporary(first.filename().string()), "config.toml");
  EXPECT_EQ(target_of_temporary(temporary_name("x.partial-3").string()), "x.partial-3");
}

TEST(TemporaryName, IsNotEveryNameThatHoldsTheMark) {
  EXPECT_EQ(target_of_temporary("kept.partial-1"), std::nullopt);
  EXPECT_EQ(target_of_temporary(".config.toml"), std::nullopt);
}

}  // namespace
}  // namespace tethys
