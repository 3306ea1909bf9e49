#include "tools/plot/chart.h"

#include <algorithm>
#include <cmath>

namespace tethys {

ChartRange range_of(const Chart& chart) {
  ChartRange range;
  bool first = true;
  const auto cover_y = [&](double y) {
    range.y_low = std::min(range.y_low, y);
    range.y_high = std::max(range.y_high, y);
  };
  for (const Series& series : chart.series) {
    for (const ChartPoint& p : series.points) {
      if (first) range = {p.x, p.x, p.y, p.y};
      first = false;
      range.x_low = std::min(range.x_low, p.x);
      range.x_high = std::max(range.x_high, p.x);
      cover_y(p.y);
    }
  }
  if (chart.level && !first) cover_y(chart.level->y);
  if (range.x_high <= range.x_low) range.x_high = range.x_low + 1;
  if (range.y_high <= range.y_low) range.y_high = range.y_low + 1;
  const double margin = (range.y_high - range.y_low) * 0.05;
  range.y_low -= margin;
  range.y_high += margin;
  return range;
}

std::vector<double> ticks(double low, double high, int count) {
  const double raw = (high - low) / std::max(count, 1);
  const double power = std::pow(10, std::floor(std::log10(raw)));
  const double lead = raw / power;
  const double spacing = power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10);
  std::vector<double> found;
  for (double index = std::ceil(low / spacing - 1e-9); index * spacing <= high + 1e-9 * spacing; ++index) {
    found.push_back(index * spacing + 0.0);  // no -0
  }
  return found;
}

}  // namespace tethys
