#include "base/library_file.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temporary_folder.h"

namespace tethys {
namespace {

// Of a real program, this one: whole, and cut in its segments (what debuggers read lies behind them) and in its
// headers.
TEST(LibraryFile, IsCutShortWhereItsSegmentsEndBehindIt) {
  TemporaryFolder folder;
  const std::string whole = read_file("/proc/self/exe");
  const auto cut_at = [&](size_t size) {
    write_file(folder / "cut.so", std::string_view(whole).substr(0, size));
    return is_cut_short(folder / "cut.so");
  };
  EXPECT_FALSE(cut_at(whole.size()));
  for (const size_t size : {size_t{65536}, size_t{4096}, size_t{100}, size_t{64}, size_t{63}, size_t{5}, size_t{4}}) {
    EXPECT_TRUE(cut_at(size)) << size;
  }
}

TEST(LibraryFile, OfAnotherKindIsNotJudged) {
  TemporaryFolder folder;
  for (const char* text : {"",
                           "\x7f"
                           "EL",
                           "plain text that is longer than the header of a library, in any case it is"}) {
    write_file(folder / "other", text);
    EXPECT_FALSE(is_cut_short(folder / "other")) << text;
  }
  EXPECT_FALSE(is_cut_short(folder / "missing"));
  EXPECT_FALSE(is_cut_short(folder.path()));
}

}  // namespace
}  // namespace tethys
