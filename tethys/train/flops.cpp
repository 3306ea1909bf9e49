#include "train/flops.h"

#include <fmt/format.h>

#include <utility>

#include "base/number.h"

namespace tethys {
namespace {

// A kind that contains the text; the first that does counts, so the longer names come first.
constexpr std::pair<std::string_view, double> kPeaks[] = {
    {"TPU v4", 275e12},     {"TPU v5 lite", 197e12}, {"TPU v5e", 197e12}, {"TPU v5", 459e12}, {"TPU v6", 918e12},
    {"TPU7x", 2307e12 / 2}, {"TPU v7", 2307e12 / 2}, {"H100", 989e12},    {"H200", 989e12},
};

}  // namespace

std::string parameters_text(const FlopsModel& m) {
  const std::string all = with_commas(m.parameters) + " parameters";
  return m.passed_by == 0 ? all
                          : fmt::format("{}, {} of them for a token", all, with_commas(m.parameters - m.passed_by));
}

double flops_per_token(const FlopsModel& m, int64_t context, CountedScores scores) {
  const double matmuls = 6.0 * static_cast<double>(m.parameters - m.embedding - m.passed_by);
  const double attention =
      6.0 * static_cast<double>(m.layers * m.heads * (m.query_key_dim + m.value_dim)) * static_cast<double>(context);
  return matmuls + (scores == CountedScores::All ? attention : attention / 2);
}

std::optional<double> peak_flops(std::string_view device_kind) {
  for (const auto& [kind, peak] : kPeaks) {
    if (device_kind.find(kind) != std::string_view::npos) return peak;
  }
  return std::nullopt;
}

}  // namespace tethys
