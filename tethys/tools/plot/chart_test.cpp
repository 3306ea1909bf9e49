#include "tools/plot/chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <png.h>

#include "base/temporary_folder.h"
#include "tools/plot/image.h"

namespace tethys {
namespace {

Chart falling() {
  Chart chart{.title = "loss", .x_label = "step"};
  chart.series.push_back({"training", {{0, 8}, {50, 4}, {100, 2}}});
  return chart;
}

TEST(Chart, TicksAreRoundNumbersWithinTheRange) {
  EXPECT_THAT(ticks(0, 10, 5), testing::ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_THAT(ticks(1.7, 8.3, 6), testing::ElementsAre(2, 3, 4, 5, 6, 7, 8));
  EXPECT_THAT(ticks(0, 130, 3), testing::ElementsAre(0, 50, 100));
}

TEST(Chart, TheRangeCoversTheLevelToo) {
  Chart chart = falling();
  chart.level = Level{"entropy", 10};
  EXPECT_GE(range_of(chart).y_high, 10);
  EXPECT_LE(range_of(chart).y_low, 2);
  EXPECT_EQ(range_of(chart).x_high, 100);
}

TEST(Chart, AsTextTheCurveFallsFromLeftToRight) {
  const std::string text = chart_text(falling(), 40, 13);
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1) {
    lines.push_back(text.substr(begin, text.find('\n', begin) - begin));
  }
  ASSERT_EQ(lines.size(), 13u);
  const auto mark_in = [](const std::string& line) {
    return line.find("▀") != std::string::npos || line.find("▄") != std::string::npos;
  };
  EXPECT_TRUE(mark_in(lines[1]));  // the first point, at the top and at the left
  EXPECT_LT(lines[1].size(), 20u);
  EXPECT_TRUE(mark_in(lines[10]));  // the last, at the bottom and at the right
  EXPECT_GT(lines[10].size(), 38u);
  EXPECT_THAT(lines[12], testing::AllOf(testing::HasSubstr("step"), testing::EndsWith("100")));
}

TEST(Chart, AChartWithoutPointsIsAnEmptyOne) { EXPECT_THAT(chart_text({}, 40, 13), testing::HasSubstr("└")); }

TEST(Image, APngHoldsThePixelsThatWereDrawn) {
  TemporaryFolder folder;
  Image image(20, 10, {255, 255, 255});
  image.fill(3, 4, 2, 1, {1, 2, 3});
  image.write_png(folder / "a.png");
  png_image header = {};
  header.version = PNG_IMAGE_VERSION;
  ASSERT_NE(png_image_begin_read_from_file(&header, (folder / "a.png").c_str()), 0);
  header.format = PNG_FORMAT_RGB;
  std::vector<uint8_t> pixels(PNG_IMAGE_SIZE(header));
  ASSERT_NE(png_image_finish_read(&header, nullptr, pixels.data(), 0, nullptr), 0);
  EXPECT_EQ(header.width, 20u);
  EXPECT_EQ(header.height, 10u);
  const size_t drawn = (4 * 20 + 3) * 3;
  EXPECT_THAT(std::vector<uint8_t>(pixels.begin() + drawn, pixels.begin() + drawn + 9),
              testing::ElementsAre(1, 2, 3, 1, 2, 3, 255, 255, 255));
}

TEST(Image, ALineCoversItsEndsAndNothingFarFromIt) {
  Image image(40, 40, {255, 255, 255});
  image.line(5, 5, 30, 30, {0, 0, 0});
  EXPECT_EQ(image.at(5, 5), (Color{0, 0, 0}));
  EXPECT_EQ(image.at(30, 30), (Color{0, 0, 0}));
  EXPECT_EQ(image.at(30, 5), (Color{255, 255, 255}));
}

TEST(Chart, ThePictureShowsTheCurveInItsColor) {
  TemporaryFolder folder;
  write_chart_png(folder / "loss.png", falling());
  EXPECT_GT(std::filesystem::file_size(folder / "loss.png"), 1000u);
}

}  // namespace
}  // namespace tethys
