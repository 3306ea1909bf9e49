// Every op's samples, with operands placed in many ways on meshes of virtual devices, against the same op on one
// device.
#include <gtest/gtest.h>

#include <map>

#include "support/op_samples.h"
#include "support/placement_testing.h"

namespace tethys {
namespace {

using placement_testing::expect_close;
using placement_testing::run;

// The ways in which one axis may hold the tensor.
std::vector<AxisPlacement> choices(const TensorType& type) {
  std::vector<AxisPlacement> all = {replicate()};
  for (int64_t d = 0; d < type.rank(); ++d) all.push_back(shard(d));
  if (is_floating(type.dtype) || is_signed_integer(type.dtype)) all.push_back(partial());
  return all;
}

bool fits(const TensorType& type, const Placement& placement, const Mesh& mesh) {
  for (int64_t d = 0; d < type.rank(); ++d) {
    if (type.dims[d] % shard_count(placement, mesh, d) != 0) return false;
  }
  return true;
}

std::vector<Placement> placements_of(const TensorType& type, const Mesh& mesh) {
  std::vector<Placement> all = {{}};
  for (int64_t axis = 0; axis < mesh.rank(); ++axis) {
    std::vector<Placement> longer;
    for (const Placement& p : all) {
      for (const AxisPlacement& a : choices(type)) {
        longer.push_back(p);
        longer.back().push_back(a);
      }
    }
    all = std::move(longer);
  }
  std::erase_if(all, [&](const Placement& p) { return !fits(type, p, mesh); });
  return all;
}

// Ways to place all operands: every one, or an even choice of them where they are many.
std::vector<std::vector<Placement>> combinations(const Sample& sample, const Mesh& mesh, int64_t most) {
  std::vector<std::vector<Placement>> each;
  int64_t count = 1;
  for (const HostTensor& o : sample.operands) {
    each.push_back(placements_of(o.type(), mesh));
    count *= static_cast<int64_t>(each.back().size());
  }
  std::vector<std::vector<Placement>> chosen;
  for (int64_t k = 0; k < std::min(count, most); ++k) {
    int64_t rest = count <= most ? k : k * count / most + k % std::max<int64_t>(1, count / most);
    std::vector<Placement> one;
    for (const auto& options : each) {
      one.push_back(options[rest % static_cast<int64_t>(options.size())]);
      rest /= static_cast<int64_t>(options.size());
    }
    chosen.push_back(one);
  }
  return chosen;
}

// All samples of one op or kernel.
using Samples = std::vector<op_samples::SampledOp>;

// The results, and of a kernel the gradient too: its backward has no samples of its own.
std::vector<Value> results_of(Graph& graph, const op_samples::SampledOp& s, const std::vector<Value>& operands) {
  std::vector<Value> results = op_samples::apply(graph, s, operands);
  if (s.kernel == nullptr) return results;
  const Value loss = op_samples::weighted_sum(graph, op_samples::differentiable_results(s, results));
  for (Value g : op_samples::floating_gradients(loss, operands)) results.push_back(g);
  return results;
}

// One graph that applies an op to its samples in many placements.
struct Case {
  Graph graph;
  std::vector<HostTensor> inputs;
  std::vector<Value> outputs;
  std::vector<std::string> names;  // of outputs

  void add(const op_samples::SampledOp& s, const std::vector<Placement>& placements) {
    std::string name = fmt::format("{} '{}' on", s.name(), s.sample.name);
    for (const Placement& p : placements) name += " " + to_string(p);
    inputs.insert(inputs.end(), s.sample.operands.begin(), s.sample.operands.end());
    for (const Value& v : results_of(graph, s, op_samples::inputs_of(graph, s.sample, placements))) {
      outputs.push_back(v);
      names.push_back(fmt::format("{}, output {}", name, names.size()));
    }
  }

  std::vector<std::vector<std::vector<double>>> run_on(const Mesh& mesh) {
    graph.set_outputs(outputs);
    return run(make_program(graph, mesh, {}), inputs);
  }
};

using Wholes = std::vector<std::vector<double>>;

// The results of each sample on one device; computed once.
const std::vector<Wholes>& on_one_device(const Samples& samples) {
  static std::map<std::string, std::vector<Wholes>> known;
  const auto [found, is_new] = known.try_emplace(samples[0].name());
  if (!is_new) return found->second;
  Case one;
  std::vector<size_t> ends;
  for (const auto& s : samples) {
    one.add(s, std::vector<Placement>(s.sample.operands.size()));
    ends.push_back(one.outputs.size());
  }
  const auto results = one.run_on(Mesh());
  for (size_t end : ends) {
    const size_t start = found->second.empty() ? 0 : ends[found->second.size() - 1];
    found->second.emplace_back();
    for (size_t i = start; i < end; ++i) found->second.back().push_back(results[i][0]);
  }
  return found->second;
}

// Largest error allowed, relative to the largest element: rounding of the sample's own dtype.
double tolerance_of(const Sample& sample) {
  for (const HostTensor& o : sample.operands) {
    if (is_floating(o.type().dtype) && o.type().dtype != DType::F64) return 1e-6;
  }
  return 1e-12;
}

struct Setting {
  Samples samples;
  Mesh mesh;
};
void PrintTo(const Setting& s, std::ostream* out) { *out << s.samples[0].name() << " on " << to_string(s.mesh); }

class OpPlacement : public testing::TestWithParam<Setting> {};

TEST_P(OpPlacement, GivesWhatOneDeviceGives) {
  const auto& [samples, mesh] = GetParam();
  Case placed;
  Wholes expected;
  double tolerance = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    tolerance = std::max(tolerance, tolerance_of(samples[i].sample));
    const Wholes& whole = on_one_device(samples).at(i);
    for (const auto& placements : combinations(samples[i].sample, mesh, samples[i].kernel != nullptr ? 6 : 20)) {
      placed.add(samples[i], placements);
      expected.insert(expected.end(), whole.begin(), whole.end());
    }
  }
  const auto results = placed.run_on(mesh);
  ASSERT_EQ(results.size(), expected.size());
  for (size_t i = 0; i < results.size(); ++i) {
    for (const auto& whole : results[i]) expect_close(whole, expected[i], tolerance, placed.names[i]);
  }
}

std::vector<Setting> settings() {
  std::vector<Setting> all;
  for (const Samples& samples : op_samples::samples_by_op()) {
    all.push_back({samples, Mesh({{"x", 4}})});
    all.push_back({samples, Mesh({{"x", 2}, {"y", 2}})});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(AllOps, OpPlacement, testing::ValuesIn(settings()), [](const auto& info) {
  std::string name = info.param.samples[0].name();
  for (const MeshAxis& axis : info.param.mesh.axes()) name += fmt::format("_{}{}", axis.name, axis.size);
  return name;
});

}  // namespace
}  // namespace tethys
