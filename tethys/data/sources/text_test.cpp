#include "data/sources/text.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/error.h"
#include "base/temporary_folder.h"

namespace tethys {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class TextFiles : public testing::Test {
 protected:
  TextFiles() {
    for (const char* name : {"b.txt", "a.txt", "a.py", ".hidden.txt", "sub/c.txt", "sub/deep/d.txt", ".git/e.txt"}) {
      Path path = folder_ / name;
      make_directories(path.parent_path());
      write_file(path, name);
    }
  }

  std::vector<std::string> find(std::vector<std::string> patterns) {
    for (std::string& pattern : patterns) pattern = folder_ / pattern;
    std::vector<std::string> found = find_text_files(patterns);
    for (std::string& path : found) path = path.substr(folder_.path().string().size() + 1);
    return found;
  }

  TemporaryFolder folder_;
};

TEST_F(TextFiles, AreSorted) { EXPECT_THAT(find({"*.txt"}), ElementsAre("a.txt", "b.txt")); }

TEST_F(TextFiles, AreFoundAtAnyDepth) {
  EXPECT_THAT(find({"**/*.txt"}), ElementsAre("a.txt", "b.txt", "sub/c.txt", "sub/deep/d.txt"));
  EXPECT_THAT(find({"sub/**"}), ElementsAre("sub/c.txt", "sub/deep/d.txt"));
  EXPECT_THAT(find({"*/c.txt"}), ElementsAre("sub/c.txt"));
}

TEST_F(TextFiles, ComeOnceWhenSeveralPatternsMatch) {
  EXPECT_THAT(find({"b.txt", "*.txt", "a.*"}), ElementsAre("a.py", "a.txt", "b.txt"));
}

TEST_F(TextFiles, HiddenOnesAreFoundWhenSpeltOut) {
  EXPECT_THAT(find({".hidden.txt", ".git/*"}), ElementsAre(".git/e.txt", ".hidden.txt"));
}

TEST_F(TextFiles, AreNotSoughtThroughLinksToFolders) {
  std::filesystem::create_directory_symlink(folder_.path(), folder_ / "sub/loop");
  EXPECT_THAT(find({"sub/**/*.txt"}), ElementsAre("sub/c.txt", "sub/deep/d.txt"));
}

TEST_F(TextFiles, ALinkThatLeadsNowhereIsFoundSoThatReadingItFails) {
  std::filesystem::create_symlink("nothing", folder_ / "lost.txt");
  EXPECT_THAT(find({"l*.txt"}), ElementsAre("lost.txt"));
}

TEST_F(TextFiles, PipesAndDevicesAreNone) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe.txt").c_str(), 0600), 0);
  EXPECT_THAT(find({"*.txt"}), ElementsAre("a.txt", "b.txt"));
  EXPECT_THROW(find({"pipe.txt"}), UserError);
  EXPECT_THROW(find_text_files({"/dev/zero"}), UserError);
}

TEST_F(TextFiles, APatternWithoutAMatchIsNamed) {
  for (const char* pattern : {"*.rst", "none.txt", "none/*.txt"}) {
    try {
      find({"*.txt", pattern});
      ADD_FAILURE() << pattern << " matched";
    } catch (const UserError& error) {
      EXPECT_THAT(error.what(), HasSubstr("no file matches " + (folder_ / pattern).string()));
    }
  }
  EXPECT_THROW(find_text_files({}), UserError);
}

TEST_F(TextFiles, AFolderIsNamedWithThePatternOfTheFilesInIt) {
  try {
    find({"*.txt", "sub"});
    ADD_FAILURE() << "no error";
  } catch (const UserError& error) {
    const std::string sub = (folder_ / "sub").string();
    EXPECT_EQ(error.what(), sub + " is a folder: " + sub + "/**/*.txt names the text files in it, at any depth");
  }
}

}  // namespace
}  // namespace tethys
