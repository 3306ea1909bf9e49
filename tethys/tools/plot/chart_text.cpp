// A chart as text: each column shows the mean of its points, in half rows.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/plot/chart.h"

namespace tethys {
namespace {

constexpr int kLabelWidth = 8;  // of the numbers at the left

class Canvas {
 public:
  Canvas(int columns, int rows)
      : columns_(columns), rows_(rows), upper_(static_cast<size_t>(columns * rows)), lower_(upper_) {}

  // `height` counts half rows from the bottom.
  void mark(int column, int height) {
    const int row = rows_ - 1 - height / 2;
    const size_t cell = static_cast<size_t>(row * columns_ + column);
    (height % 2 == 1 ? upper_ : lower_)[cell] = true;
  }
  std::string row(int row) const {
    std::string text;
    for (int column = 0; column < columns_; ++column) {
      const size_t cell = static_cast<size_t>(row * columns_ + column);
      text += upper_[cell] ? (lower_[cell] ? "█" : "▀") : (lower_[cell] ? "▄" : " ");
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  }

 private:
  int columns_, rows_;
  std::vector<bool> upper_, lower_;
};

void draw(Canvas& canvas, const Series& series, const ChartRange& range, int columns, int rows) {
  std::vector<double> sum(static_cast<size_t>(columns));
  std::vector<int> count(sum.size());
  for (const ChartPoint& p : series.points) {
    const double share = (p.x - range.x_low) / (range.x_high - range.x_low);
    const auto column = static_cast<size_t>(std::clamp<int>(std::lround(share * (columns - 1)), 0, columns - 1));
    sum[column] += p.y;
    ++count[column];
  }
  for (size_t column = 0; column < sum.size(); ++column) {
    if (count[column] == 0) continue;
    const double share = (sum[column] / count[column] - range.y_low) / (range.y_high - range.y_low);
    canvas.mark(static_cast<int>(column), std::clamp<int>(std::lround(share * (2 * rows - 1)), 0, 2 * rows - 1));
  }
}

}  // namespace

std::string chart_text(const Chart& chart, int columns, int rows) {
  const int width = std::max(columns - kLabelWidth - 2, 8);
  const int height = std::max(rows - 3, 4);
  const ChartRange range = range_of(chart);
  Canvas canvas(width, height);
  for (const Series& series : chart.series) draw(canvas, series, range, width, height);

  std::string text = fmt::format("{:>{}}  {}\n", "", kLabelWidth - 2, chart.title);
  for (int row = 0; row < height; ++row) {
    const double y = range.y_high - (range.y_high - range.y_low) * (row + 0.5) / height;
    const bool labelled = row % 3 == 0;
    text += labelled ? fmt::format("{:>{}.3g} ┤", y, kLabelWidth - 1) : fmt::format("{:>{}}│", "", kLabelWidth);
    text += canvas.row(row) + "\n";
  }
  text += fmt::format("{:>{}}└", "", kLabelWidth);
  for (int column = 0; column < width; ++column) text += "─";
  const std::string low = fmt::format("{:g}", range.x_low), high = fmt::format("{:g}", range.x_high);
  return text + fmt::format("\n{:>{}} {}{:^{}}{}\n", "", kLabelWidth, low, chart.x_label,
                            std::max<int>(width - static_cast<int>(low.size() + high.size()), 0), high);
}

}  // namespace tethys
