#include "train/metrics.h"

#include <nlohmann/json.hpp>
#include <string_view>

#include "base/error.h"

namespace tethys {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

// Calls `use` with each line without its break, and whether it has one.
template <typename Use>
void for_each_line(std::string_view text, Use&& use) {
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    use(text.substr(begin, end - begin), end < text.size());
    begin = end + 1;
  }
}

Json parse_line(std::string_view line, const Path& path, int64_t number) {
  Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("step") || !json["step"].is_number_integer()) {
    user_error("{}:{}: expected a JSON object with a step, got '{}'", path.string(), number, line);
  }
  return json;
}

StepMetrics step_of(const Json& json) {
  return {json.at("step"),       json.at("loss"),         json.at("grad_norm"),   json.at("lr"),
          json.at("tokens"),     json.at("tps"),          json.at("tflops"),      json.at("mfu"),
          json.at("memory_gib"), json.at("step_seconds"), json.at("data_seconds")};
}

ValidationMetrics validation_of(const Json& json) {
  return {json.at("step"), json.at("validation_loss"), json.at("validation_tokens"), json.at("unigram_entropy")};
}

}  // namespace

std::string to_json(const StepMetrics& m) {
  return OrderedJson{{"step", m.step},
                     {"loss", m.loss},
                     {"grad_norm", m.grad_norm},
                     {"lr", m.lr},
                     {"tokens", m.tokens},
                     {"tps", m.tps},
                     {"tflops", m.tflops},
                     {"mfu", m.mfu},
                     {"memory_gib", m.memory_gib},
                     {"step_seconds", m.step_seconds},
                     {"data_seconds", m.data_seconds}}
      .dump();
}

std::string to_json(const ValidationMetrics& m) {
  return OrderedJson{
      {"step", m.step}, {"validation_loss", m.loss}, {"validation_tokens", m.tokens}, {"unigram_entropy", m.entropy}}
      .dump();
}

// A model may say bytes that are no text.
std::string to_json(const SampleMetrics& m) {
  return OrderedJson{{"step", m.step}, {"prompt", m.prompt}, {"sample", m.text}}.dump(
      -1, ' ', false, OrderedJson::error_handler_t::replace);
}

RunMetrics read_metrics(const Path& path) {
  RunMetrics metrics;
  int64_t number = 0;
  for_each_line(read_file(path), [&](std::string_view line, bool) {
    const Json json = parse_line(line, path, ++number);
    try {
      if (json.contains("validation_loss")) {
        metrics.validations.push_back(validation_of(json));
      } else if (json.contains("sample")) {
        metrics.samples.push_back({json.at("step"), json.at("prompt"), json.at("sample")});
      } else {
        metrics.steps.push_back(step_of(json));
      }
    } catch (const Json::exception& error) {
      user_error("{}:{}: {}", path.string(), number, error.what());
    }
  });
  return metrics;
}

void cut_back_metrics(const Path& path, int64_t step) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return;
  std::string kept;
  int64_t number = 0;
  for_each_line(read_file(path), [&](std::string_view line, bool finished) {
    ++number;
    if (!finished) return;
    if (parse_line(line, path, number)["step"].get<int64_t>() <= step) kept.append(line).append("\n");
  });
  write_file(path, kept);
}

}  // namespace tethys
