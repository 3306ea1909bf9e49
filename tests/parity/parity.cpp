// Runs every combination of parallelism and holds it to one device with no mesh, scan, remat or accumulation, in
// float64: loss, norm and every gradient of the first step to 1e-9 of a tensor's largest element, losses, norms and
// parameters of ten steps to 1e-7. One run of each goes on to fifty steps, in which nothing may hang and no handle or
// byte may be left over. Then leaves out one reduction at a time and expects that to be seen.
//
// usage: parity [--quick] [--table FILE]
//   --quick        each combination once, with one of the models and batches in turn
//   --table FILE   writes the figures into the page, between its two marks
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <set>

#include "base/file.h"
#include "packed_rows.h"
#include "parity/combinations.h"
#include "parity/drop_reduction.h"
#include "pjrt/live_handles.h"
#include "runtime/watchdog.h"
#include "training_testing.h"

namespace tethys::parity {
namespace {

using training_testing::Model;
using training_testing::Named;
using training_testing::Run;
using training_testing::Variant;

constexpr int64_t kRows = 16;
constexpr int64_t kLength = 16;
constexpr int64_t kSteps = 10, kSoaked = 50;
constexpr std::chrono::minutes kStuck{2};
constexpr double kFirst = 1e-9, kTen = 1e-7;
constexpr const char* kBegin = "<!-- parity: written by `make parity` -->\n";
constexpr const char* kEnd = "<!-- end of parity -->\n";

struct Subject {
  std::string name;
  Model model;
};

// RoPE scaling that acts at this length.
Model llama(int64_t vocabulary) { return {.dim = 64, .ffn = 96, .vocab = vocabulary, .theta = 10000, .original = 8}; }

Model qwen(int64_t vocabulary, int64_t experts) {
  return {.dim = 64,
          .ffn = 96,
          .vocab = vocabulary,
          .tied = experts == 0,
          .norm_eps = 1e-6,
          .theta = 1e6,
          .factor = 1,
          .architecture = experts == 0 ? "qwen3" : "qwen3_moe",
          .head_dim = 12,
          .experts = experts,
          .experts_per_token = 2,
          .expert_ffn = 48};
}

std::vector<Subject> subjects() {
  return {{"llama3, 64 words", llama(64)},  {"llama3, 61 words", llama(61)},      {"qwen3, 64 words", qwen(64, 0)},
          {"qwen3, 61 words", qwen(61, 0)}, {"qwen3 MoE, 64 words", qwen(64, 8)}, {"qwen3 MoE, 61 words", qwen(61, 8)}};
}

struct Result {
  std::vector<double> losses, norms;
  Named gradients;  // of the first step
  Named parameters;
  std::string left_over;  // by the steps after these; empty: nothing
};

Run::Outcome step_of(Run& run, const Subject& subject, int64_t step) {
  static Watchdog watchdog(kStuck, [](const Watchdog::Stuck& stuck) {
    fmt::print(stderr, "parity: {}\n", to_string(stuck));
    std::_Exit(4);
  });
  const Watchdog::Step guard = watchdog.step(step, subject.name);
  const PackedRows rows = packed_rows(step, kRows, kLength, subject.model.vocab);
  return run.step(step, 0.01 / static_cast<double>(step + 1), rows.tokens, rows.labels, rows.positions, rows.segments);
}

std::string held(const Run& run) {
  return fmt::format("{}, {} bytes", pjrt::to_string(pjrt::live_handles()), run.live_bytes());
}

Result train(const Subject& subject, const Variant& variant, int64_t steps, bool soaks = false) {
  Run run(subject.model, variant, kRows, kLength, "default.so");
  Result result;
  for (int64_t step = 0; step < steps; ++step) {
    const Run::Outcome outcome = step_of(run, subject, step);
    result.losses.push_back(outcome.loss);
    result.norms.push_back(outcome.norm);
    if (step == 0) result.gradients = run.gradients();
  }
  result.parameters = run.parameters();
  const std::string before = held(run);
  for (int64_t step = steps; soaks && step < kSoaked; ++step) step_of(run, subject, step);
  if (held(run) != before) result.left_over = fmt::format("{} before, {} after", before, held(run));
  return result;
}

// The largest difference, as a part of the largest element; infinite where there is a NaN or nothing to compare.
double error_of(const std::vector<double>& got, const std::vector<double>& expected) {
  double largest = 0, error = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::abs(expected[i]));
    const double difference = i < got.size() ? std::abs(got[i] - expected[i]) : NAN;
    if (!(difference <= error)) error = difference;
  }
  const bool comparable = got.size() == expected.size() && largest > 0 && std::isfinite(error);
  return comparable ? error / largest : INFINITY;
}

double error_of(const Named& got, const Named& expected) {
  double error = got.size() == expected.size() ? 0 : INFINITY;
  for (const auto& [name, values] : expected) {
    error = std::max(error, got.contains(name) ? error_of(got.at(name), values) : INFINITY);
  }
  return error;
}

struct Errors {
  double first = 0, ten = 0;
};

Errors errors_of(const Result& got, const Result& expected) {
  const auto first = [](const std::vector<double>& all) { return std::vector<double>(all.begin(), all.begin() + 1); };
  return {std::max({error_of(first(got.losses), first(expected.losses)),
                    error_of(first(got.norms), first(expected.norms)), error_of(got.gradients, expected.gradients)}),
          std::max({error_of(got.losses, expected.losses), error_of(got.norms, expected.norms),
                    error_of(got.parameters, expected.parameters)})};
}

Variant variant_of(const Combination& c, int64_t microbatches) {
  Variant variant{.name = c.name, .mesh = c.mesh(), .scan = c.scan, .remat = {}, .microbatches = microbatches};
  if (c.full_remat) variant.remat = {RematPolicy::Kind::Full, {}};
  variant.reshard_after_forward = c.reshard;
  variant.gathers = c.gathers;
  variant.reduces_once = c.reduces_once;
  variant.sequence_parallel = c.sequence_parallel;
  variant.head_tail = c.context > 1 && c.head_tail;
  variant.dispatcher = c.dispatcher;
  return variant;
}

class Parity {
 public:
  explicit Parity(bool quick) : quick_(quick) {}

  // False if a row is not what one device gives, or a fault is not seen.
  bool run() {
    for (const Combination& c : kCombinations) {
      Row row{c, 0, {}};
      const auto runs = runs_of(c);
      for (const auto& run : runs) compare(row, *run.first, run.second, !quick_ && run == runs.back());
      rows_.push_back(row);
    }
    for (const Subject& subject : subjects_) {
      for (int64_t microbatches : {1, 2}) {
        if (seen_.contains({subject.name, microbatches})) continue;
        ok_ = false;
        fmt::print("no combination was run with {} and {} microbatches\n", subject.name, microbatches);
      }
    }
    for (const auto& [what, c, axis] : faults()) expect_seen(what, c, axis);
    return ok_;
  }

  std::string table() const {
    std::string text = "| combination | devices | runs | first step | ten steps | left over after fifty |\n";
    text += "|---|---|---|---|---|---|\n";
    for (const Row& row : rows_) {
      text += fmt::format("| {} | {} | {} | {:.1e} | {:.1e} | {} |\n", row.combination.name,
                          row.combination.mesh().size(), row.runs, row.worst.first, row.worst.ten,
                          quick_       ? "not run"
                          : row.steady ? "nothing"
                                       : "FAILED");
    }
    return text;
  }

 private:
  struct Row {
    Combination combination;
    int64_t runs = 0;
    Errors worst;
    bool steady = false;  // over fifty steps
  };

  // The models that it is for and microbatches of a step; if quick one of these, a different one for each row.
  std::vector<std::pair<const Subject*, int64_t>> runs_of(const Combination& c) const {
    std::vector<std::pair<const Subject*, int64_t>> all;
    for (const Subject& subject : subjects_) {
      if (c.expert > 1 && subject.model.experts == 0) continue;
      for (int64_t microbatches : {1, 2}) all.emplace_back(&subject, microbatches);
    }
    return quick_ ? std::vector{all[rows_.size() % all.size()]} : all;
  }

  static std::vector<std::tuple<Dropped, Combination, std::string>> faults() {
    const Combination dp{.name = "HSDP 2×2", .replicate = 2, .shard = 2};
    const Combination cp{.name = "CP 2", .context = 2};
    const Combination sp{.name = "TP 2, SP", .tensor = 2, .sequence_parallel = true};
    std::vector<std::tuple<Dropped, Combination, std::string>> all;
    for (Dropped what : {Dropped::Loss, Dropped::Norm, Dropped::Gradient}) {
      all.insert(all.end(), {{what, dp, "dp_shard"}, {what, cp, "cp"}, {what, sp, "tp"}});
    }
    all.insert(all.end(), {{Dropped::Loss, dp, "dp_replicate"}, {Dropped::Gradient, dp, "dp_replicate"}});
    const Combination ep{.name = "FSDP 4 × EP 2", .shard = 4, .expert = 2};
    for (const char* axis : {"dp_shard", "dp_shard_ep"}) {
      for (Dropped what : {Dropped::Loss, Dropped::Norm, Dropped::Gradient}) all.emplace_back(what, ep, axis);
    }
    return all;
  }

  const Result& reference(const Subject& subject) {
    if (!references_.contains(subject.name)) {
      references_[subject.name] = train(subject, {.name = "one device", .mesh = {}, .remat = {}}, kSteps);
    }
    return references_[subject.name];
  }

  void compare(Row& row, const Subject& subject, int64_t microbatches, bool soaks) {
    const auto begin = std::chrono::steady_clock::now();
    Errors errors{INFINITY, INFINITY};
    std::string why;
    try {
      const Result result = train(subject, variant_of(row.combination, microbatches), kSteps, soaks);
      errors = errors_of(result, reference(subject));
      if (soaks) row.steady = result.left_over.empty();
      if (!result.left_over.empty()) why = ": left over after fifty steps: " + result.left_over;
    } catch (const std::exception& error) {
      why = fmt::format(": {}", error.what());
    }
    ++row.runs;
    seen_.emplace(subject.name, microbatches);
    row.worst = {std::max(row.worst.first, errors.first), std::max(row.worst.ten, errors.ten)};
    const bool same = errors.first <= kFirst && errors.ten <= kTen && (row.steady || !soaks);
    ok_ = ok_ && same;
    fmt::print("{:<68} {:<18} {} microbatch{}  first step {:.1e}  ten steps {:.1e}  {:4.1f} s  {}{}\n",
               row.combination.name, subject.name, microbatches, microbatches == 1 ? "  " : "es", errors.first,
               errors.ten, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
               same ? "ok" : "FAILED", why);
    std::fflush(stdout);
  }

  void expect_seen(Dropped what, const Combination& c, const std::string& axis) {
    const Subject& subject = subjects_.back();
    Variant variant = variant_of(c, 1);
    variant.edit = [&](const Graph& local) {
      const size_t loss = local.outputs().size() - 2 - (local.outputs().size() - 3) / 4;
      return without_reduction(local, variant.mesh, what, axis, loss);
    };
    const Errors errors = errors_of(train(subject, variant, 1), first_step(reference(subject)));
    const bool seen = errors.first > kFirst;
    ok_ = ok_ && seen;
    fmt::print("{:<68} without reducing the {} over {}: first step {:.1e}  {}\n", c.name, name_of(what), axis,
               errors.first, seen ? "seen" : "NOT SEEN");
    std::fflush(stdout);
  }

  static Result first_step(const Result& whole) {
    return {{whole.losses[0]}, {whole.norms[0]}, whole.gradients, whole.parameters, ""};
  }

  bool quick_;
  std::vector<Subject> subjects_ = subjects();
  std::map<std::string, Result> references_;
  std::vector<Row> rows_;
  std::set<std::pair<std::string, int64_t>> seen_;  // models and microbatches
  bool ok_ = true;
};

void write_table(const Path& page, const std::string& table) {
  std::string text = read_file(page);
  const size_t begin = text.find(kBegin), end = text.find(kEnd);
  if (begin == std::string::npos || end == std::string::npos)
    user_error("{} has no place for the table", page.string());
  const size_t from = begin + std::string(kBegin).size();
  write_file(page, text.replace(from, end - from, table));
}

int run(const std::vector<std::string>& arguments) {
  const bool quick = std::find(arguments.begin(), arguments.end(), "--quick") != arguments.end();
  const auto table = std::find(arguments.begin(), arguments.end(), "--table");
  Parity parity(quick);
  const bool ok = parity.run();
  if (ok && table != arguments.end() && table + 1 != arguments.end()) write_table(*(table + 1), parity.table());
  fmt::print("{}\n", ok ? "every combination gives what one device gives" : "FAILED");
  return ok ? 0 : 1;
}

}  // namespace
}  // namespace tethys::parity

int main(int argc, char** argv) {
  try {
    return tethys::parity::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    fmt::print(stderr, "parity: {}\n", error.what());
    return 2;
  }
}
