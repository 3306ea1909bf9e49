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
  write_file(temporary / "metrics.jsonl", "{\"step\": 1}\n");
  EXPECT_THAT(message_of(temporary.path(), false),
              testing::AllOf(testing::HasSubstr("holds a run already"), testing::HasSubstr("--resume")));
  EXPECT_EQ(message_of(temporary.path(), true), "no error");
}

TEST(RunFolder, HoldsARunWhereACheckpointLiesWhateverTheFolderOfThem) {
  TemporaryFolder temporary;
  make_directories(temporary / "saved");
  EXPECT_EQ(message_of(temporary.path(), false), "no error");
  make_directories(temporary / "saved/step-00000007");
  EXPECT_THAT(message_of(temporary.path(), false), testing::HasSubstr("holds a run already"));
}

// It wrote its configuration and opened its files, and there is nothing to go on from.
TEST(RunFolder, OfARunThatFailedBeforeItsFirstStepIsFree) {
  TemporaryFolder temporary;
  write_file(temporary / "config.toml", "[model]\n");
  write_file(temporary / "metrics.jsonl", "");
  write_file(temporary / "log.txt", "a line\n");
  EXPECT_EQ(message_of(temporary.path(), false), "no error");
}

TEST(RunFolder, IsRidOfWhatAKilledProcessLeftHalfWritten) {
  TemporaryFolder temporary;
  write_file(temporary / ".config.toml.partial-12-0", "[mod");
  write_file(temporary / "kept.partial-1", "");
  EXPECT_EQ(message_of(temporary.path(), false), "no error");
  EXPECT_FALSE(std::filesystem::exists(temporary / ".config.toml.partial-12-0"));
  EXPECT_TRUE(std::filesystem::exists(temporary / "kept.partial-1"));
}

TEST(RunFolder, IsHeldByOneAtATime) {
  TemporaryFolder temporary;
  const RunFolder holder(temporary.path(), false);
  EXPECT_THAT(message_of(temporary.path(), true), testing::HasSubstr(temporary.path().string()));
}

}  // namespace
}  // namespace tethys
