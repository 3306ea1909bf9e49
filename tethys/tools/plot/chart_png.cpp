// A chart as a picture.
#include <fmt/format.h>

#include <algorithm>

#include "tools/plot/chart.h"
#include "tools/plot/frame.h"
#include "tools/plot/image.h"

namespace tethys {
namespace {

constexpr int kWidth = 960, kHeight = 540;
constexpr int kLeft = 84, kRight = 24, kTop = 52, kBottom = 64;
constexpr Color kPaper{255, 255, 255}, kGrid{232, 232, 232}, kAxis{120, 120, 120}, kInk{40, 40, 40};
constexpr Color kColors[] = {{31, 119, 180}, {214, 69, 65}, {44, 140, 60}, {148, 103, 189}};
constexpr Color kLevel{150, 150, 150};

int text_width(const std::string& text) { return static_cast<int>(text.size()) * 12; }

void draw_axes(Image& image, const Chart& chart, const Frame& frame) {
  for (double value : ticks(frame.range.y_low, frame.range.y_high, 6)) {
    const int y = static_cast<int>(frame.y(value));
    image.fill(kLeft, y, kWidth - kLeft - kRight, 1, kGrid);
    const std::string label = fmt::format("{:.6g}", value);
    image.text(kLeft - 10 - text_width(label), y - 7, label, kInk);
  }
  for (double value : ticks(frame.range.x_low, frame.range.x_high, 8)) {
    const int x = static_cast<int>(frame.x(value));
    image.fill(x, kTop, 1, kHeight - kTop - kBottom, kGrid);
    const std::string label = fmt::format("{:.6g}", value);
    image.text(x - text_width(label) / 2, kHeight - kBottom + 10, label, kInk);
  }
  image.fill(kLeft, kTop, 1, kHeight - kTop - kBottom, kAxis);
  image.fill(kLeft, kHeight - kBottom, kWidth - kLeft - kRight, 1, kAxis);
  image.text((kLeft + kWidth - kRight - text_width(chart.x_label)) / 2, kHeight - 26, chart.x_label, kInk);
  image.text(kLeft, 18, chart.title, kInk);
}

void draw_series(Image& image, const Series& series, const Frame& frame, Color color) {
  for (size_t i = 0; i + 1 < series.points.size(); ++i) {
    const ChartPoint &a = series.points[i], &b = series.points[i + 1];
    image.line(frame.x(a.x), frame.y(a.y), frame.x(b.x), frame.y(b.y), color);
  }
  if (series.points.size() > 12) return;  // few points are marked, so that a lone one shows
  for (const ChartPoint& p : series.points) {
    image.fill(static_cast<int>(frame.x(p.x)) - 3, static_cast<int>(frame.y(p.y)) - 3, 7, 7, color);
  }
}

}  // namespace

void write_chart_png(const Path& path, const Chart& chart) {
  Image image(kWidth, kHeight, kPaper);
  const Frame frame{range_of(chart), kLeft, kWidth - kRight, kTop, kHeight - kBottom};
  draw_axes(image, chart, frame);
  int legend = kTop + 14;
  const auto name = [&](const std::string& text, Color color) {
    const int x = kWidth - kRight - 14 - text_width(text);
    image.fill(x - 34, legend + 5, 24, 4, color);
    image.text(x, legend, text, kInk);
    legend += 24;
  };
  if (chart.level) {
    const int y = static_cast<int>(frame.y(chart.level->y));
    for (int x = kLeft; x + 8 < kWidth - kRight; x += 16) image.fill(x, y, 8, 2, kLevel);
    name(chart.level->name, kLevel);
  }
  for (size_t i = 0; i < chart.series.size(); ++i) {
    const Color color = kColors[i % std::size(kColors)];
    draw_series(image, chart.series[i], frame, color);
    name(chart.series[i].name, color);
  }
  image.write_png(path);
}

}  // namespace tethys
