#include "train/copy_memory.h"

#include <gtest/gtest.h>

namespace tethys {
namespace {

TEST(CopyMemory, GivesBlocksOfASizeAgain) {
  CopyMemory memory;
  const std::byte* first = nullptr;
  {
    CopyMemory::Block a = memory.take(1000), b = memory.take(1000);
    EXPECT_NE(a.bytes().data(), b.bytes().data());
    const CopyMemory::Block moved = std::move(a);
    first = moved.bytes().data();
    EXPECT_EQ(moved.bytes().size(), 1000u);
  }
  const CopyMemory::Block other = memory.take(999), c = memory.take(1000), d = memory.take(1000);
  EXPECT_TRUE(c.bytes().data() == first || d.bytes().data() == first);
  EXPECT_NE(other.bytes().data(), first);
}

TEST(CopyMemory, ABlockMayOutliveIt) {
  CopyMemory::Block block;
  block = CopyMemory().take(8);
  block.bytes()[7] = std::byte{1};
  EXPECT_EQ(block.bytes()[7], std::byte{1});
}

}  // namespace
}  // namespace tethys
