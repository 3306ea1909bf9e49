// The chart of a run: training and validation loss over steps, and the unigram entropy to compare with.
#pragma once

#include <string>

#include "tools/plot/chart.h"
#include "train/metrics.h"

namespace tethys {

Chart loss_chart(const std::string& name, const RunMetrics& metrics);

}  // namespace tethys
