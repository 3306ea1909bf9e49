// The page of `tethys report`: one HTML file with nothing outside of it: curves of one or several runs side by side,
// their figures, what the models said, and where their settings differ.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "train/metrics.h"

namespace tethys {

struct ReportedRun {
  std::string name;
  RunMetrics metrics;
  std::vector<std::pair<std::string, std::string>> settings;  // "optimizer.lr" → "0.0008", all of them in order
};

// The lines of a recipe that config_toml wrote, as settings.
std::vector<std::pair<std::string, std::string>> settings_of(const std::string& toml);

std::string report_page(const std::vector<ReportedRun>& runs);

}  // namespace tethys
