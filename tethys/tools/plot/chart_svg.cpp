// A chart as a part of a page.
#include <fmt/format.h>

#include "tools/plot/chart.h"
#include "tools/plot/frame.h"

namespace tethys {
namespace {

constexpr double kWidth = 640, kHeight = 360;
constexpr double kLeft = 64, kRight = 16, kTop = 34, kBottom = 44;
constexpr size_t kColors = 8;

std::string text(double x, double y, const char* anchor, std::string_view content) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, escaped(content));
}

std::string line(double x0, double y0, double x1, double y1, const char* style) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x0, y0, x1, y1, style);
}

std::string axes(const Chart& chart, const Frame& frame) {
  constexpr const char* kGrid = "stroke=\"var(--grid)\"";
  std::string svg;
  for (double value : ticks(frame.range.y_low, frame.range.y_high, 5)) {
    svg += line(kLeft, frame.y(value), kWidth - kRight, frame.y(value), kGrid);
    svg += text(kLeft - 8, frame.y(value) + 4, "end", fmt::format("{:.6g}", value));
  }
  for (double value : ticks(frame.range.x_low, frame.range.x_high, 7)) {
    svg += line(frame.x(value), kTop, frame.x(value), kHeight - kBottom, kGrid);
    svg += text(frame.x(value), kHeight - kBottom + 18, "middle", fmt::format("{:.6g}", value));
  }
  svg += text((kLeft + kWidth - kRight) / 2, kHeight - 8, "middle", chart.x_label);
  svg += fmt::format("<text class=\"title\" x=\"{:.1f}\" y=\"18\">{}</text>\n", kLeft, escaped(chart.title));
  return svg;
}

std::string curve(const Series& series, size_t index, const Frame& frame) {
  const std::string color = fmt::format("var(--series-{})", index % kColors);
  std::string points;
  for (const ChartPoint& p : series.points) points += fmt::format("{:.1f},{:.1f} ", frame.x(p.x), frame.y(p.y));
  std::string svg = fmt::format(
      "<g><title>{}</title><polyline fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\" stroke-linejoin=\"round\" "
      "points=\"{}\"/>\n",
      escaped(series.name), color, points);
  if (series.points.size() <= 12) {  // few points are marked, so that a lone one shows
    for (const ChartPoint& p : series.points) {
      svg +=
          fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>\n", frame.x(p.x), frame.y(p.y), color);
    }
  }
  return svg + "</g>\n";
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string chart_svg(const Chart& chart) {
  const Frame frame{range_of(chart), kLeft, kWidth - kRight, kTop, kHeight - kBottom};
  std::string svg = fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n", kWidth, kHeight,
                                escaped(chart.title));
  svg += axes(chart, frame);
  if (chart.level) {
    const double y = frame.y(chart.level->y);
    svg += line(kLeft, y, kWidth - kRight, y, "stroke=\"var(--ink)\" stroke-dasharray=\"6 5\"");
    svg += text(kWidth - kRight - 4, y - 5, "end", chart.level->name);
  }
  for (size_t i = 0; i < chart.series.size(); ++i) svg += curve(chart.series[i], i, frame);
  return svg + "</svg>\n";
}

}  // namespace tethys
