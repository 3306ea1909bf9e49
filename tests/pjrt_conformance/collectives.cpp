// The five collectives with subgroups inside a while loop, in both forms in which Tethys writes programs: partitions in
// the manual form, and replicas. Expected values come from loops on the host over all devices.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include "conformance.h"

namespace tethys::pjrt::conformance {
namespace {

enum class Form { Partitions, Replicas };

constexpr int kTrips = 3;
constexpr int64_t kWidth = 8;  // elements a device

using Values = std::vector<std::vector<double>>;  // [device][element]
using Groups = std::vector<std::vector<int64_t>>;

const Groups kHalves = {{0, 1, 2, 3}, {4, 5, 6, 7}};
const Groups kStrided = {{0, 2, 4, 6}, {1, 3, 5, 7}};
const Groups kPairs = {{0, 4}, {1, 5}, {2, 6}, {3, 7}};
const Groups kAll = {{0, 1, 2, 3, 4, 5, 6, 7}};

std::string groups_attribute(const Groups& groups) {
  std::vector<std::string> rows;
  for (const auto& group : groups) rows.push_back(fmt::format("[{}]", fmt::join(group, ", ")));
  return fmt::format("dense<[{}]> : tensor<{}x{}xi64>", fmt::join(rows, ", "), groups.size(), groups[0].size());
}

// The attributes that every grouped collective has; partitions need a channel and global ids.
std::string common(const Groups& groups, Form form, int channel, bool global_ids) {
  std::string out = "replica_groups = " + groups_attribute(groups);
  if (form == Form::Partitions) {
    out += fmt::format(", channel_handle = #stablehlo.channel_handle<handle = {}, type = 1>", channel);
    if (global_ids) out += ", use_global_device_ids";
  }
  return out;
}

constexpr const char* kSum =
    "({\n^bb0(%a: tensor<f64>, %b: tensor<f64>):\n %s = \"stablehlo.add\"(%a, %b) : (tensor<f64>, tensor<f64>) -> "
    "tensor<f64>\n \"stablehlo.return\"(%s) : (tensor<f64>) -> ()\n})";

// Runs `body` kTrips times on 8 devices, each starting with its own numbers.
Values run_loop(const std::string& body, Form form, const Values& start) {
  const std::string type = fmt::format("tensor<{}xf64>", kWidth);
  const bool manual = form == Form::Partitions;
  CompileOptions options;
  (manual ? options.num_partitions : options.num_replicas) = kDevices;
  options.use_spmd_partitioning = manual;
  const LoadedExecutable program = eight_devices().compile(to_text({.inputs = {type},
                                                                    .body = loop("%arg0", type, kTrips, body),
                                                                    .results = {"%loop#1"},
                                                                    .result_types = {type},
                                                                    .manual = manual}),
                                                           options);
  std::vector<std::vector<HostTensor>> arguments;
  for (const auto& values : start) arguments.push_back({HostTensor::of<double>({kWidth}, values)});
  Values out;
  for (const auto& results : run_all(eight_devices(), program, arguments)) out.push_back(results[0].to_doubles());
  return out;
}

// Small integers, so that every order of summation is exact.
Values start_values() {
  Values out(kDevices, std::vector<double>(kWidth));
  for (size_t d = 0; d < out.size(); ++d) {
    for (size_t i = 0; i < kWidth; ++i) out[d][i] = static_cast<double>(d * 8 + i + 1);
  }
  return out;
}

// Applies `member` kTrips times: it gives a device's next values from its group's values and its place in the group.
Values simulate(const Groups& groups,
                const std::function<std::vector<double>(const Values& group, size_t place)>& member) {
  Values values = start_values();
  for (int trip = 0; trip < kTrips; ++trip) {
    Values next = values;
    for (const auto& group : groups) {
      Values own;
      for (const int64_t d : group) own.push_back(values[static_cast<size_t>(d)]);
      for (size_t p = 0; p < group.size(); ++p) next[static_cast<size_t>(group[p])] = member(own, p);
    }
    values = next;
  }
  return values;
}

class Collectives : public testing::TestWithParam<Form> {
 protected:
  void SetUp() override {
    if (eight_devices().device_count() < kDevices) GTEST_SKIP() << "needs 8 devices";
  }
};
INSTANTIATE_TEST_SUITE_P(Forms, Collectives, testing::Values(Form::Partitions, Form::Replicas),
                         [](const auto& info) { return info.param == Form::Partitions ? "partitions" : "replicas"; });

TEST_P(Collectives, AllReduceSumsEachGroup) {
  for (const Groups& groups : {kHalves, kStrided, kPairs, kAll}) {
    const std::string body =
        fmt::format("%w = \"stablehlo.all_reduce\"(%v) {} {{{}}} : (tensor<8xf64>) -> tensor<8xf64>", kSum,
                    common(groups, GetParam(), 1, true));
    const Values expected = simulate(groups, [](const Values& group, size_t) {
      std::vector<double> sum(kWidth, 0.0);
      for (const auto& values : group) {
        for (size_t i = 0; i < kWidth; ++i) sum[i] += values[i];
      }
      return sum;
    });
    EXPECT_EQ(run_loop(body, GetParam(), start_values()), expected);
  }
}

TEST_P(Collectives, AllGatherConcatenatesInTheOrderOfTheGroup) {
  for (const Groups& groups : {kHalves, kStrided}) {
    // Gathered to 32, then every fourth element kept: each member leaves a mark in its own place.
    const std::string body = fmt::format(
        "%g = \"stablehlo.all_gather\"(%v) {{all_gather_dim = 0 : i64, {}}} : (tensor<8xf64>) -> tensor<32xf64>\n"
        "%w = \"stablehlo.slice\"(%g) {{start_indices = array<i64: 1>, limit_indices = array<i64: 32>, "
        "strides = array<i64: 4>}} : (tensor<32xf64>) -> tensor<8xf64>",
        common(groups, GetParam(), 1, true));
    const Values expected = simulate(groups, [](const Values& group, size_t) {
      std::vector<double> kept;
      for (const auto& values : group) {
        kept.push_back(values[1]);
        kept.push_back(values[5]);
      }
      return kept;
    });
    EXPECT_EQ(run_loop(body, GetParam(), start_values()), expected);
  }
}

TEST_P(Collectives, ReduceScatterGivesEachMemberItsPartOfTheSum) {
  for (const Groups& groups : {kHalves, kStrided}) {
    const std::string body = fmt::format(
        "%p = \"stablehlo.reduce_scatter\"(%v) {} {{scatter_dimension = 0 : i64, {}}} : (tensor<8xf64>) -> "
        "tensor<2xf64>\n"
        "%w = \"stablehlo.concatenate\"(%p, %p, %p, %p) {{dimension = 0 : i64}} : (tensor<2xf64>, tensor<2xf64>, "
        "tensor<2xf64>, tensor<2xf64>) -> tensor<8xf64>",
        kSum, common(groups, GetParam(), 1, true));
    const Values expected = simulate(groups, [](const Values& group, size_t place) {
      std::vector<double> out(kWidth, 0.0);
      for (size_t i = 0; i < kWidth; ++i) {
        for (const auto& values : group) out[i] += values[place * 2 + i % 2];
      }
      return out;
    });
    EXPECT_EQ(run_loop(body, GetParam(), start_values()), expected);
  }
}

TEST_P(Collectives, AllToAllSendsPartIToMemberI) {
  for (const Groups& groups : {kHalves, kStrided}) {
    const std::string body = fmt::format(
        "%w = \"stablehlo.all_to_all\"(%v) {{split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 4 : "
        "i64, {}}} : (tensor<8xf64>) -> tensor<8xf64>",
        common(groups, GetParam(), 1, false));
    const Values expected = simulate(groups, [](const Values& group, size_t place) {
      std::vector<double> out;
      for (const auto& values : group) {
        out.push_back(values[place * 2]);
        out.push_back(values[place * 2 + 1]);
      }
      return out;
    });
    EXPECT_EQ(run_loop(body, GetParam(), start_values()), expected);
  }
}

// Pairs as text, with the channel that partitions need.
std::string permute(const std::vector<std::pair<int, int>>& pairs, Form form) {
  std::vector<std::string> rows;
  for (const auto& [source, target] : pairs) rows.push_back(fmt::format("[{}, {}]", source, target));
  return fmt::format(
      "%w = \"stablehlo.collective_permute\"(%v) {{source_target_pairs = dense<[{}]> : tensor<{}x2xi64>{}}}"
      " : (tensor<8xf64>) -> tensor<8xf64>",
      fmt::join(rows, ", "), pairs.size(),
      form == Form::Partitions ? ", channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>" : "");
}

TEST_P(Collectives, PermuteTurnsTheRingOfEachGroup) {
  std::vector<std::pair<int, int>> pairs;
  for (int d = 0; d < 4; ++d) {
    pairs.emplace_back(d, (d + 1) % 4);
    pairs.emplace_back(d + 4, (d + 1) % 4 + 4);
  }
  const Values start = start_values();
  const Values result = run_loop(permute(pairs, GetParam()), GetParam(), start);
  for (size_t d = 0; d < 4; ++d) {
    EXPECT_EQ(result[(d + kTrips) % 4], start[d]);
    EXPECT_EQ(result[(d + kTrips) % 4 + 4], start[d + 4]);
  }
}

TEST_P(Collectives, PermuteGivesZerosToWhomNobodySends) {
  std::vector<std::pair<int, int>> pairs;
  for (int d = 0; d + 1 < kDevices; ++d) pairs.emplace_back(d, d + 1);
  const Values start = start_values();
  const Values result = run_loop(permute(pairs, GetParam()), GetParam(), start);
  for (size_t d = 0; d < kDevices; ++d) {
    EXPECT_EQ(result[d], d < kTrips ? std::vector<double>(kWidth, 0.0) : start[d - kTrips]);
  }
}

TEST_P(Collectives, AllFiveRunInOneLoopBody) {
  const Form form = GetParam();
  const std::string body = fmt::format(
      R"(%1 = "stablehlo.all_gather"(%v) {{all_gather_dim = 0 : i64, {0}}} : (tensor<8xf64>) -> tensor<32xf64>
%2 = "stablehlo.reduce_scatter"(%1) {1} {{scatter_dimension = 0 : i64, {2}}} : (tensor<32xf64>) -> tensor<8xf64>
%3 = "stablehlo.all_to_all"(%2) {{split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 4 : i64, {3}}} : (tensor<8xf64>) -> tensor<8xf64>
%4 = "stablehlo.all_reduce"(%3) {1} {{{4}}} : (tensor<8xf64>) -> tensor<8xf64>
%w = "stablehlo.collective_permute"(%4) {{source_target_pairs = dense<[[0, 4], [4, 0], [1, 5], [5, 1], [2, 6], [6, 2], [3, 7], [7, 3]]> : tensor<8x2xi64>{5}}} : (tensor<8xf64>) -> tensor<8xf64>)",
      common(kHalves, form, 1, true), kSum, common(kHalves, form, 2, true), common(kStrided, form, 3, false),
      common(kPairs, form, 4, true),
      form == Form::Partitions ? ", channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>" : "");

  Values values = start_values();
  for (int trip = 0; trip < kTrips; ++trip) {
    // A gather and a scatter of four equal copies multiply by four; then parts are swapped over the strided groups, and
    // pairs summed, which makes the permutation of the pairs change nothing.
    Values swapped = values;
    for (const auto& group : kStrided) {
      for (size_t p = 0; p < 4; ++p) {
        for (size_t q = 0; q < 4; ++q) {
          for (size_t i = 0; i < 2; ++i) {
            swapped[static_cast<size_t>(group[p])][q * 2 + i] = 4 * values[static_cast<size_t>(group[q])][p * 2 + i];
          }
        }
      }
    }
    for (size_t d = 0; d < kDevices; ++d) {
      for (size_t i = 0; i < kWidth; ++i) values[d][i] = swapped[d][i] + swapped[(d + 4) % 8][i];
    }
  }
  EXPECT_EQ(run_loop(body, form, start_values()), values);
}

TEST(Partitions, KnowTheirOwnIndex) {
  const LoadedExecutable program =
      eight_devices().compile(to_text({.inputs = {},
                                       .body = "%p = \"stablehlo.partition_id\"() : () -> tensor<ui32>",
                                       .results = {"%p"},
                                       .result_types = {"tensor<ui32>"},
                                       .manual = true}),
                              {.num_partitions = kDevices, .use_spmd_partitioning = true});
  const auto results = run_all(eight_devices(), program, std::vector<std::vector<HostTensor>>(kDevices));
  for (size_t d = 0; d < kDevices; ++d) EXPECT_EQ(results[d][0], HostTensor::scalar(static_cast<uint32_t>(d)));
}

TEST(Partitions, CompileWithTheCollectiveDeadlinesThatThePluginKnows) {
  // Our own raised deadlines are defaults: a value of the caller's stands, also a wrong one.
  const PjrtError error = error_of([] {
    eight_devices().compile(to_text({.inputs = {"tensor<f64>"},
                                     .body = "",
                                     .results = {"%arg0"},
                                     .result_types = {"tensor<f64>"},
                                     .manual = true}),
                            {.num_partitions = kDevices,
                             .use_spmd_partitioning = true,
                             .env_option_overrides = {{"xla_cpu_collective_call_terminate_timeout_seconds", "soon"}}});
  });
  EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
  EXPECT_NE(error.text().find("soon"), std::string::npos) << error.text();
}

}  // namespace
}  // namespace tethys::pjrt::conformance
