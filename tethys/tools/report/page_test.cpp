#include "tools/report/page.h"

#include <gtest/gtest.h>

#include "tools/plot/chart.h"

namespace tethys {
namespace {

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(ChartSvg, PutsAPointWhereItsValuesSay) {
  Chart chart{.title = "a < b", .x_label = "step"};
  chart.series.push_back({"x & y", {{0, 0}, {10, 1}}});
  const std::string svg = chart_svg(chart);
  const ChartRange range = range_of(chart);
  // The frame is 560 × 282 units from (64, 316) upwards.
  const double x = 64 + (10 - range.x_low) / (range.x_high - range.x_low) * 560;
  const double y = 316 - (1 - range.y_low) / (range.y_high - range.y_low) * 282;
  char point[64];
  std::snprintf(point, sizeof point, " %.1f,%.1f \"", x, y);
  EXPECT_NE(svg.find(point), std::string::npos) << point << "\n" << svg;
  EXPECT_NE(svg.find("<title>x &amp; y</title>"), std::string::npos);
  EXPECT_NE(svg.find(">a &lt; b</text>"), std::string::npos);
}

TEST(Settings, AreReadWithTheirSections) {
  using Settings = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(settings_of("# note = 1\nbase = \"b\"\n\n[model]\ndim = 4\n[data]\ntext = [\"a = b\"]\n"),
            (Settings{{"base", "\"b\""}, {"model.dim", "4"}, {"data.text", "[\"a = b\"]"}}));
}

TEST(ReportPage, ShowsEachRunAndWhereTheyDiffer) {
  ReportedRun a{"run <a>", {}, {{"optimizer.lr", "1"}, {"model.dim", "8"}}};
  a.metrics.steps = {{.step = 1, .loss = 3, .tps = 10}, {.step = 2, .loss = 2.5, .tps = 40}};
  a.metrics.validations = {{.step = 2, .loss = 2.25, .tokens = 5, .entropy = 4}};
  ReportedRun b = a;
  b.name = "b";
  b.settings[0].second = "2";
  const std::string page = report_page({a, b});
  EXPECT_EQ(count(page, "<svg "), 7U);
  EXPECT_EQ(count(page, "<polyline "), 14U);
  EXPECT_EQ(count(page, "<tr class=\"differs\">"), 1U);
  EXPECT_NE(page.find("<tr class=\"differs\"><td>optimizer.lr</td><td>1</td><td>2</td></tr>"), std::string::npos);
  EXPECT_NE(page.find("</span>run &lt;a&gt;</td><td>2</td><td>0</td><td>2.5000</td><td>2.2500</td><td>40</td>"),
            std::string::npos)
      << page;
  EXPECT_EQ(page.find("http"), std::string::npos);
  EXPECT_EQ(page.find("Samples"), std::string::npos);
}

TEST(ReportPage, ShowsWhatTheModelsSaidSideBySideTheNewestFirst) {
  ReportedRun a{"a", {}, {}}, b{"b", {}, {}};
  a.metrics.samples = {{.step = 9, .prompt = "x <", .text = " y"}, {.step = 10, .prompt = "x <", .text = "\nz"}};
  b.metrics.samples = {{.step = 10, .prompt = "&", .text = "!"}};
  const std::string page = report_page({a, b});
  const size_t newest =
      page.find("<tr><td>10</td><td class=\"said\"><b>x &lt;</b>\nz</td><td class=\"said\"><b>&amp;</b>!</td></tr>");
  const size_t earlier =
      page.find("<tr><td>9</td><td class=\"said\"><b>x &lt;</b> y</td><td class=\"said\"></td></tr>");
  ASSERT_NE(newest, std::string::npos) << page;
  ASSERT_NE(earlier, std::string::npos) << page;
  EXPECT_LT(newest, page.find("<summary>of earlier steps"));
  EXPECT_GT(earlier, page.find("<summary>of earlier steps"));
}

}  // namespace
}  // namespace tethys
