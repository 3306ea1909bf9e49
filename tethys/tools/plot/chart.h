// Chart: lines over numbers, as a picture or as text: what a run's loss looks like.
//
//   Chart chart{.title = "loss", .x_label = "step"};
//   chart.series.push_back({"training", points});
//   write_chart_png("loss.png", chart);
//   fmt::print("{}", chart_text(chart, 80, 16));
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"

namespace tethys {

struct ChartPoint {
  double x = 0;
  double y = 0;
};

struct Series {
  std::string name;
  std::vector<ChartPoint> points;  // by ascending x
};

// A horizontal line to compare with.
struct Level {
  std::string name;
  double y = 0;
};

struct Chart {
  std::string title = {};
  std::string x_label = {};
  std::vector<Series> series = {};
  std::optional<Level> level = std::nullopt;
};

// What the axes span; at least a little, so that they can be divided.
struct ChartRange {
  double x_low = 0, x_high = 1, y_low = 0, y_high = 1;
};
ChartRange range_of(const Chart& chart);

// About `count` round numbers (1, 2 or 5 times a power of ten apart) within [low, high].
std::vector<double> ticks(double low, double high, int count);

// A PNG of 960 × 540 pixels. UserError if the file cannot be written.
void write_chart_png(const Path& path, const Chart& chart);

// An <svg> element of 640 × 360 units that scales with the page; its colours are the page's variables --ink, --grid and
// --series-0 … --series-7. Names are escaped.
std::string chart_svg(const Chart& chart);

// As text of an HTML or SVG element or attribute.
std::string escaped(std::string_view text);

// Characters in `columns` × `rows`, axes and legend included; ends with a line break.
std::string chart_text(const Chart& chart, int columns, int rows);

}  // namespace tethys
