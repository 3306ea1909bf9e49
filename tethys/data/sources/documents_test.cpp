#include "data/sources/documents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/temporary_folder.h"

namespace tethys {
namespace {

TEST(Documents, AFileThatIsTooLongForOneIsRefusedWithWhatToDo) {
  TemporaryFolder folder;
  const std::string path = (folder / "long.txt").string();
  write_file(path, "seven b");
  EXPECT_EQ(read_document(path, 7), "seven b");
  try {
    read_document(path, 6);
    FAIL() << "it is longer";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr(path), testing::HasSubstr("more than 6 bytes"),
                                             testing::HasSubstr(".jsonl")));
  }
}

}  // namespace
}  // namespace tethys
