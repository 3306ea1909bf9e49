#include "tools/plot/loss_chart.h"

namespace tethys {

Chart loss_chart(const std::string& name, const RunMetrics& metrics) {
  Chart chart{.title = "loss of " + name, .x_label = "step"};
  Series training{"training", {}}, validation{"validation", {}};
  for (const StepMetrics& m : metrics.steps) training.points.push_back({static_cast<double>(m.step), m.loss});
  for (const ValidationMetrics& m : metrics.validations) {
    validation.points.push_back({static_cast<double>(m.step), m.loss});
  }
  chart.series.push_back(std::move(training));
  if (!metrics.validations.empty()) {
    chart.series.push_back(std::move(validation));
    chart.level = Level{"unigram entropy", metrics.validations.back().entropy};
  }
  return chart;
}

}  // namespace tethys
