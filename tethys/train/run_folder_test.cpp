#include "train/run_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/temporary_folder.h"

namespace tethys {
namespace {

std::string message_of(const Path& path, bool resume) {
  try {
    RunFolder folder(path, resume);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(RunFolder, IsMadeAndTakenAsLongAsItHoldsNoRun) {
  TemporaryFolder temporary;
  EXPECT_EQ(message_of(temporary / "a/b", false), "no error");
  EXPECT_TRUE(std::filesystem::is_directory(temporary / "a/b"));
  EXPECT_EQ(message_of(temporary / "a/b", false), "no error");
}

TEST(RunFolder, ThatHoldsARunIsRefusedWithoutResume) {
  TemporaryFolder temporary;
  write_file(temporary / "metrics.jsonl", "");
  EXPECT_THAT(message_of(temporary.path(), false),
              testing::AllOf(testing::HasSubstr("holds a run already"), testing::HasSubstr("--resume")));
  EXPECT_EQ(message_of(temporary.path(), true), "no error");
}

TEST(RunFolder, IsHeldByOneAtATime) {
  TemporaryFolder temporary;
  const RunFolder holder(temporary.path(), false);
  EXPECT_THAT(message_of(temporary.path(), true), testing::HasSubstr(temporary.path().string()));
}

}  // namespace
}  // namespace tethys
