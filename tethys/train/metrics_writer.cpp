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

// As JSON has it, whose text is UTF-8 whatever the model said. Markdown shows lines that begin with a tab as they are.
void MetricsWriter::add(const SampleMetrics& metrics) {
  const std::string line = to_json(metrics);
  lines_.append(line);
  if (!events_) return;
  const auto fields = nlohmann::json::parse(line);
  std::string text = "\t";
  for (const char c : fields.at("prompt").get<std::string>() + fields.at("sample").get<std::string>()) {
    text += c;
    if (c == '\n') text += '\t';
  }
  events_->add_text(metrics.step, wall_time(), "sample", text);
}

void MetricsWriter::write(int64_t step, const std::string& line) {
  lines_.append(line);
  if (events_) events_->add_scalars(step, wall_time(), scalars_of(line));
}

}  // namespace tethys
