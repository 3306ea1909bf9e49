#include "tools/report/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "tools/plot/chart.h"

namespace tethys {
namespace {

constexpr std::string_view kHead =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n<title>Tethys report</title>\n<style>\n"
    ":root { color-scheme: light dark; --paper: #fff; --ink: #24292f; --grid: #e4e7eb; --mark: #fff3bf;\n"
    "  --series-0: #1f77b4; --series-1: #d64541; --series-2: #2c8c3c; --series-3: #9467bd;\n"
    "  --series-4: #d9822b; --series-5: #17a2a8; --series-6: #8c564b; --series-7: #7a7a7a; }\n"
    "@media (prefers-color-scheme: dark) {\n"
    "  :root { --paper: #15181c; --ink: #d7dce2; --grid: #2c323a; --mark: #4a4113; --series-0: #58a6e0; } }\n"
    "body { background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif;\n"
    "  max-width: 84rem; margin: 2rem auto; padding: 0 1rem; }\n"
    "h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }\n"
    ".charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(24rem, 1fr)); gap: 1rem; }\n"
    "svg text { fill: var(--ink); font: 13px system-ui, sans-serif; } svg text.title { font-weight: 600; }\n"
    ".scroll { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; }\n"
    "th, td { text-align: left; padding: .2rem .9rem .2rem 0; vertical-align: top; border-bottom: 1px solid "
    "var(--grid); }\n"
    "tr.differs td { background: var(--mark); }\n"
    "td.said { white-space: pre-wrap; font: 13px/1.4 ui-monospace, monospace; }\n"
    ".key { display: inline-block; width: .8rem; height: .8rem; margin-right: .4rem; border-radius: 2px; }\n"
    "</style>\n</head>\n<body>\n<h1>Tethys report</h1>\n";

using Figure = std::function<double(const StepMetrics&)>;

Chart chart_of(const std::vector<ReportedRun>& runs, const std::string& title, const Figure& figure) {
  Chart chart{.title = title, .x_label = "step"};
  for (const ReportedRun& run : runs) {
    Series series{run.name, {}};
    for (const StepMetrics& m : run.metrics.steps) series.points.push_back({static_cast<double>(m.step), figure(m)});
    chart.series.push_back(std::move(series));
  }
  return chart;
}

// The colours are those of the other charts; the text's entropy is shown where all runs read the same text.
Chart validation_chart(const std::vector<ReportedRun>& runs) {
  Chart chart{.title = "validation loss", .x_label = "step"};
  std::set<double> entropies;
  for (const ReportedRun& run : runs) {
    Series series{run.name, {}};
    for (const ValidationMetrics& m : run.metrics.validations) {
      series.points.push_back({static_cast<double>(m.step), m.loss});
      entropies.insert(m.entropy);
    }
    chart.series.push_back(std::move(series));
  }
  if (entropies.size() == 1) chart.level = Level{"unigram entropy", *entropies.begin()};
  return chart;
}

std::string charts(const std::vector<ReportedRun>& runs) {
  const bool validated =
      std::any_of(runs.begin(), runs.end(), [](const ReportedRun& run) { return !run.metrics.validations.empty(); });
  std::string html = "<div class=\"charts\">\n";
  html += chart_svg(chart_of(runs, "loss", [](const StepMetrics& m) { return m.loss; }));
  if (validated) html += chart_svg(validation_chart(runs));
  html += chart_svg(chart_of(runs, "gradient norm", [](const StepMetrics& m) { return m.grad_norm; }));
  html += chart_svg(chart_of(runs, "learning rate", [](const StepMetrics& m) { return m.lr; }));
  html += chart_svg(chart_of(runs, "tokens per second and device", [](const StepMetrics& m) { return m.tps; }));
  html += chart_svg(chart_of(runs, "seconds per step", [](const StepMetrics& m) { return m.step_seconds; }));
  html += chart_svg(chart_of(runs, "memory, GiB a device", [](const StepMetrics& m) { return m.memory_gib; }));
  return html + "</div>\n";
}

double median(std::vector<double> values) {
  if (values.empty()) return NAN;
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::string row(const std::vector<std::string>& cells, const char* tag, const char* style = "") {
  std::string html = fmt::format("<tr{}>", style);
  for (const std::string& cell : cells) html += fmt::format("<{0}>{1}</{0}>", tag, cell);
  return html + "</tr>\n";
}

// The first logged step warms up, so it is no part of the medians where there are others.
std::string figures(const std::vector<ReportedRun>& runs) {
  std::string html = "<h2>Figures</h2>\n<div class=\"scroll\"><table>\n";
  html += row({"run", "steps", "tokens", "last loss", "lowest validation loss", "tokens/s, median", "MFU, median",
               "memory, GiB"},
              "th");
  for (size_t i = 0; i < runs.size(); ++i) {
    const RunMetrics& metrics = runs[i].metrics;
    std::vector<double> tps, mfu;
    for (size_t s = metrics.steps.size() > 1 ? 1 : 0; s < metrics.steps.size(); ++s) {
      tps.push_back(metrics.steps[s].tps);
      mfu.push_back(metrics.steps[s].mfu);
    }
    std::optional<double> lowest;
    for (const ValidationMetrics& m : metrics.validations) lowest = std::min(lowest.value_or(m.loss), m.loss);
    const StepMetrics last = metrics.steps.empty() ? StepMetrics{} : metrics.steps.back();
    const std::string key = fmt::format("<span class=\"key\" style=\"background: var(--series-{})\"></span>", i % 8);
    html += row({key + escaped(runs[i].name), fmt::format("{}", last.step), fmt::format("{}", last.tokens),
                 fmt::format("{:.4f}", last.loss), lowest ? fmt::format("{:.4f}", *lowest) : "–",
                 fmt::format("{:.0f}", median(tps)), fmt::format("{:.1f}%", 100 * median(mfu)),
                 fmt::format("{:.2f}", last.memory_gib)},
                "td");
  }
  return html + "</table></div>\n";
}

// What the models said, the newest before those of earlier steps.
std::string samples(const std::vector<ReportedRun>& runs) {
  std::map<int64_t, std::vector<std::string>, std::greater<>> said;
  for (size_t i = 0; i < runs.size(); ++i) {
    for (const SampleMetrics& m : runs[i].metrics.samples) {
      auto& row = said.try_emplace(m.step, runs.size()).first->second;
      row[i] = fmt::format("<b>{}</b>{}", escaped(m.prompt), escaped(m.text));
    }
  }
  if (said.empty()) return "";
  std::vector<std::string> head = {"step"};
  for (const ReportedRun& run : runs) head.push_back(escaped(run.name));
  std::vector<std::string> rows;
  for (const auto& [step, texts] : said) {
    std::string html = fmt::format("<tr><td>{}</td>", step);
    for (const std::string& text : texts) html += fmt::format("<td class=\"said\">{}</td>", text);
    rows.push_back(html + "</tr>\n");
  }
  const std::string table = "<div class=\"scroll\"><table>\n" + row(head, "th");
  std::string html = "<h2>Samples</h2>\n" + table + rows[0] + "</table></div>\n";
  if (rows.size() == 1) return html;
  html += "<details><summary>of earlier steps</summary>" + table;
  for (size_t i = 1; i < rows.size(); ++i) html += rows[i];
  return html + "</table></div></details>\n";
}

// Of each setting the value in every run; those that differ come first and are marked.
std::string settings(const std::vector<ReportedRun>& runs) {
  std::vector<std::string> names;
  std::vector<std::map<std::string, std::string>> values(runs.size());
  for (size_t i = 0; i < runs.size(); ++i) {
    for (const auto& [name, value] : runs[i].settings) {
      if (std::none_of(values.begin(), values.end(), [&](const auto& known) { return known.contains(name); })) {
        names.push_back(name);
      }
      values[i][name] = value;
    }
  }
  std::vector<std::string> head = {"option"};
  for (const ReportedRun& run : runs) head.push_back(escaped(run.name));
  std::string different, equal;
  for (const std::string& name : names) {
    std::vector<std::string> cells = {escaped(name)};
    for (const auto& known : values) cells.push_back(known.contains(name) ? escaped(known.at(name)) : "–");
    const bool same = std::all_of(cells.begin() + 1, cells.end(), [&](const auto& cell) { return cell == cells[1]; });
    (same ? equal : different) += row(cells, "td", same ? "" : " class=\"differs\"");
  }
  std::string html = "<h2>Configuration</h2>\n";
  if (!different.empty()) {
    html += "<div class=\"scroll\"><table>\n" + row(head, "th") + different + "</table></div>\n";
  }
  const char* summary = runs.size() == 1 ? "all options" : "options that are equal";
  return html +
         fmt::format("<details><summary>{}</summary><div class=\"scroll\"><table>\n{}{}</table></div></details>\n",
                     summary, row(head, "th"), equal);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> settings_of(const std::string& toml) {
  std::vector<std::pair<std::string, std::string>> settings;
  std::string section;
  for (size_t begin = 0; begin < toml.size();) {
    const size_t end = std::min(toml.find('\n', begin), toml.size());
    const std::string line = toml.substr(begin, end - begin);
    begin = end + 1;
    const size_t equals = line.find(" = ");
    if (line.starts_with("[")) {
      section = line.substr(1, line.rfind(']') - 1) + ".";
    } else if (!line.starts_with("#") && equals != std::string::npos) {
      settings.emplace_back(section + line.substr(0, equals), line.substr(equals + 3));
    }
  }
  return settings;
}

std::string report_page(const std::vector<ReportedRun>& runs) {
  return std::string(kHead) + figures(runs) + charts(runs) + samples(runs) + settings(runs) + "</body>\n</html>\n";
}

}  // namespace tethys
