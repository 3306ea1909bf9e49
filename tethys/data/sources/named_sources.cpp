#include "data/sources/named_sources.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/number.h"

namespace tethys {
namespace {

// Of the rows; of a smaller one no run has a row.
constexpr double kLeastShare = 1e-12;

std::string names_of(const std::vector<NamedSource>& sources) {
  std::vector<std::string> names;
  for (const NamedSource& source : sources) names.push_back(source.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

NamedSource* find(std::vector<NamedSource>& sources, std::string_view name) {
  const auto found =
      std::find_if(sources.begin(), sources.end(), [&](const NamedSource& source) { return source.name == name; });
  return found == sources.end() ? nullptr : &*found;
}

std::vector<NamedSource> weights_of(const std::vector<std::string>& mix, std::string_view where) {
  std::vector<NamedSource> sources;
  double total = 0;
  for (const std::string& entry : mix) {
    const size_t equals = std::min(entry.find('='), entry.size());
    const std::string name = entry.substr(0, equals);
    if (name.empty() || equals == entry.size()) {
      user_error("{}: \"{}\" is no weight of a source; expected NAME=WEIGHT, such as code=0.7", where, entry);
    }
    const std::optional<double> weight = parse_number<double>(std::string_view(entry).substr(equals + 1));
    if (!weight || !(*weight > 0) || !std::isfinite(*weight)) {
      user_error("{}: the weight of {} is \"{}\"; expected a number above 0", where, name, entry.substr(equals + 1));
    }
    if (find(sources, name)) user_error("{}: {} has two weights; give each source one", where, name);
    sources.push_back({name, *weight, {}});
    total += *weight;
  }
  if (!std::isfinite(total)) user_error("{}: the weights are too large to add up; only their ratios count", where);
  for (NamedSource& source : sources) {
    source.share /= total;
    if (source.share < kLeastShare) {
      user_error("{}: the weight of {} is {} of all weights together; expected at least {} of them", where, source.name,
                 source.share, kLeastShare);
    }
  }
  return sources;
}

}  // namespace

std::vector<NamedSource> named_sources(const std::vector<std::string>& text, const std::vector<std::string>& mix,
                                       std::string_view where) {
  if (mix.empty()) return {{"", 1, text}};
  std::vector<NamedSource> sources = weights_of(mix, where);
  for (const std::string& entry : text) {
    const size_t colon = entry.find(':');
    if (colon == std::string::npos || colon == 0 || colon + 1 == entry.size()) {
      user_error("{}: {} in data.text belongs to no source; with a mix write NAME:GLOB, such as {}:{}", where, entry,
                 sources[0].name, entry);
    }
    NamedSource* source = find(sources, entry.substr(0, colon));
    if (source == nullptr) {
      user_error("{}: {} in data.text is of a source without a weight; the mix has {}", where, entry,
                 names_of(sources));
    }
    source->files.push_back(entry.substr(colon + 1));
  }
  for (const NamedSource& source : sources) {
    if (!source.files.empty()) continue;
    user_error("{}: there is no source {}; name its files in data.text as {}:GLOB", where, source.name, source.name);
  }
  return sources;
}

}  // namespace tethys
