#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "tools/testing.h"

namespace tethys {
namespace {

void write_run(const Path& folder, double lr) {
  std::filesystem::create_directory(folder);
  write_file(folder / "config.toml", fmt::format("[optimizer]\nlr = {}\n", lr));
  std::string lines;
  for (int step = 1; step <= 20; ++step) {
    lines += fmt::format(
        "{{\"step\":{},\"loss\":{},\"grad_norm\":1.0,\"lr\":{},\"tokens\":{},\"tps\":100.0,\"tflops\":0.1,\"mfu\":0.5,"
        "\"memory_gib\":1.5,\"step_seconds\":0.2,\"data_seconds\":0.0}}\n",
        step, 8.0 - 0.1 * step, lr, 64 * step);
  }
  write_file(folder / "metrics.jsonl", lines);
}

TEST(Report, IsDrawnByABrowser) {
  const TemporaryFolder folder;
  write_run(folder / "a", 1e-3);
  write_run(folder / "b", 2e-3);
  const std::string page = (folder / "report.html").string();
  const Ended ended = run_tethys({"report", (folder / "a").string(), (folder / "b").string(), "--output", page});
  ASSERT_EQ(ended.status, 0) << ended.output;
  if (std::system("command -v chromium > /dev/null") != 0) {
    GTEST_SKIP() << "no browser here: apt-get install chromium";
  }
  const std::string browser = fmt::format(
      "cd {} && chromium --headless --no-sandbox --disable-gpu --window-size=1200,1400 ", folder.path().string());
  ASSERT_EQ(std::system((browser + "--dump-dom file://" + page + " > dom 2> dom.log").c_str()), 0);
  const std::string dom = read_file(folder / "dom");
  EXPECT_NE(dom.find("<tr class=\"differs\"><td>optimizer.lr</td><td>0.001</td><td>0.002</td></tr>"), std::string::npos)
      << dom;
  ASSERT_EQ(std::system((browser + "--screenshot=shot.png file://" + page + " > shot.log 2>&1").c_str()), 0);
  // A blank page of this size takes 8 kB.
  EXPECT_GT(std::filesystem::file_size(folder / "shot.png"), 30000U);
}

TEST(Report, TellsRunsOfOneNameApartByTheirFolders) {
  const TemporaryFolder folder;
  for (const char* parent : {"x", "y"}) {
    std::filesystem::create_directory(folder / parent);
    write_run(folder / parent / "run", 1e-3);
  }
  const std::string x = (folder / "x/run/").string(), y = (folder / "y/run").string();
  const Ended ended = run_tethys({"report", x, y, "--output", (folder / "report.html").string()});
  ASSERT_EQ(ended.status, 0) << ended.output;
  const std::string page = read_file(folder / "report.html");
  for (const std::string& name : {x, y}) EXPECT_NE(page.find("</span>" + name + "</td>"), std::string::npos) << name;
}

TEST(Report, OfAFolderWithoutARunIsAMistake) {
  const TemporaryFolder folder;
  const Ended ended = run_tethys({"report", folder.path().string(), "--output", (folder / "x.html").string()});
  EXPECT_EQ(ended.status, 2);
  EXPECT_NE(ended.output.find("is no folder of a run: there is no metrics.jsonl in it"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder / "x.html"));
}

}  // namespace
}  // namespace tethys
