#include "train/metrics_writer.h"

#include <chrono>
#include <nlohmann/json.hpp>

namespace tethys {
namespace {

// Seconds since 1970.
double wall_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

std::vector<std::pair<std::string, double>> scalars_of(const std::string& line) {
  std::vector<std::pair<std::string, double>> scalars;
  const auto fields = nlohmann::ordered_json::parse(line);
  for (const auto& [name, value] : fields.items()) {
    if (name != "step" && value.is_number()) scalars.emplace_back(name, value.get<double>());
  }
  return scalars;
}

MetricsWriter::MetricsWriter(const Path& path, const Options& options) : lines_(path) {
  if (!options.tensorboard) return;
  events_.emplace(path.parent_path(), EventFile::Begin{.first_step = options.first_step, .wall_time = wall_time()});
}

void MetricsWriter::write(int64_t step, const std::string& line) {
  lines_.append(line);
  if (events_) events_->add_scalars(step, wall_time(), scalars_of(line));
}

}  // namespace tethys
