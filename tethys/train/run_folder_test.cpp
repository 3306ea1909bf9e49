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
  EXPECT_EQ(message_of(temporary / "a/b", false), "no error");
}

TEST(RunFolder, OfARunThatDoesNotBeginIsGoneWithTheFoldersThatWereMadeForIt) {
  TemporaryFolder temporary;
  make_directories(temporary / "there");
  write_file(temporary / "there/notes", "mine");
  const auto leave = [&](const char* name, bool begins) {
    RunFolder folder(temporary / name, false);
    write_file(folder.log(), "a line\n");
    if (begins) folder.keep();
  };
  leave("a/b/c", false);
  leave("there", false);
  leave("there/run", false);
  EXPECT_THAT(names_in(temporary.path()), testing::ElementsAre("there"));
  EXPECT_THAT(names_in(temporary / "there"), testing::ElementsAre("notes"));
  leave("a/b/c", true);
  leave("a/b/c", false);
  EXPECT_THAT(names_in(temporary / "a/b/c"), testing::ElementsAre(".lock", "log.txt"));
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

TEST(RunFolder, IsLeftAsItIsWhereSomethingIsInTheWayOfAFile) {
  for (const char* name : {"config.toml", "metrics.jsonl", "log.txt", "loss.png"}) {
    TemporaryFolder temporary;
    make_directories(temporary / name);
    for (const bool resume : {false, true}) {
      EXPECT_EQ(message_of(temporary.path(), resume),
                (temporary / name).string() +
                    " is no file, and a run writes one of this name: move it away, or give another folder by --output");
    }
    EXPECT_THAT(names_in(temporary.path()), testing::ElementsAre(name));
  }
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
