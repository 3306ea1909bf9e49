// Every op's samples, with operands placed in many ways on meshes of virtual devices, against the same op on one
// device.
#include <gtest/gtest.h>

#include <map>

#include "kernels/attention/attention.h"
#include "kernels/linear_cross_entropy/linear_cross_entropy.h"
#include "op_samples.h"
#include "ops/registry.h"
#include "placement_testing.h"

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
std::vector<std::vector<Placement>> combinations(const Sample& sample, const Mesh& mesh) {
  constexpr int64_t kMost = 20;
  std::vector<std::vector<Placement>> each;
  int64_t count = 1;
  for (const HostTensor& o : sample.operands) {
    each.push_back(placements_of(o.type(), mesh));
    count *= static_cast<int64_t>(each.back().size());
  }
  std::vector<std::vector<Placement>> chosen;
  for (int64_t k = 0; k < std::min(count, kMost); ++k) {
    int64_t rest = count <= kMost ? k : k * count / kMost + k % std::max<int64_t>(1, count / kMost);
    std::vector<Placement> one;
    for (const auto& options : each) {
      one.push_back(options[rest % static_cast<int64_t>(options.size())]);
      rest /= static_cast<int64_t>(options.size());
    }
    chosen.push_back(one);
  }
  return chosen;
}

// What is checked: an op on its samples, or a kernel with its gradient.
struct Subject {
  std::string name;
  const OpRecord* op = nullptr;
  const KernelRecord* kernel = nullptr;

  std::vector<Sample> samples() const { return op != nullptr ? op->samples() : kernel->samples(); }

  std::vector<Value> apply(Graph& graph, const Sample& sample, const std::vector<Value>& operands) const {
    if (op != nullptr) return op_samples::apply(graph, {op, sample}, operands);
    std::vector<Value> results = tethys::kernel(*kernel, graph, sample.attributes, operands);
    // The first result is the one that has a gradient.
    for (Value g : op_samples::floating_gradients(op_samples::weighted_sum(graph, {results[0]}), operands))
      results.push_back(g);
    return results;
  }
};

std::vector<Subject> subjects() {
  std::vector<Subject> all;
  for (const OpRecord* op : all_ops()) {
    if (op->samples != nullptr) all.push_back({op->name, op});
  }
  for (const KernelRecord* k : {&attention_kernel, &linear_cross_entropy_kernel}) all.push_back({k->name, nullptr, k});
  return all;
}

// One graph that applies the subject to its samples in many placements.
struct Case {
  Graph graph;
  std::vector<HostTensor> inputs;
  std::vector<Value> outputs;
  std::vector<std::string> names;  // of outputs

  void add(const Subject& subject, const Sample& sample, const std::vector<Placement>& placements) {
    std::string name = fmt::format("{} '{}' on", subject.name, sample.name);
    for (const Placement& p : placements) name += " " + to_string(p);
    inputs.insert(inputs.end(), sample.operands.begin(), sample.operands.end());
    for (const Value& v : subject.apply(graph, sample, op_samples::inputs_of(graph, sample, placements))) {
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

// The results of a subject's samples on one device, sample after sample; computed once.
const std::vector<Wholes>& on_one_device(const Subject& subject) {
  static std::map<std::string, std::vector<Wholes>> known;
  const auto [found, is_new] = known.try_emplace(subject.name);
  if (!is_new) return found->second;
  Case one;
  std::vector<size_t> ends;
  for (const Sample& sample : subject.samples()) {
    one.add(subject, sample, std::vector<Placement>(sample.operands.size()));
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
  Subject subject;
  Mesh mesh;
};
void PrintTo(const Setting& s, std::ostream* out) { *out << s.subject.name << " on " << to_string(s.mesh); }

class OpPlacement : public testing::TestWithParam<Setting> {};

TEST_P(OpPlacement, GivesWhatOneDeviceGives) {
  const auto& [subject, mesh] = GetParam();
  Case placed;
  Wholes expected;
  double tolerance = 0;
  const std::vector<Sample> samples = subject.samples();
  for (size_t s = 0; s < samples.size(); ++s) {
    tolerance = std::max(tolerance, tolerance_of(samples[s]));
    const Wholes& whole = on_one_device(subject).at(s);
    for (const auto& placements : combinations(samples[s], mesh)) {
      placed.add(subject, samples[s], placements);
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
  for (const Subject& subject : subjects()) {
    all.push_back({subject, Mesh({{"x", 4}})});
    all.push_back({subject, Mesh({{"x", 2}, {"y", 2}})});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(AllOps, OpPlacement, testing::ValuesIn(settings()), [](const auto& info) {
  std::string name = info.param.subject.name;
  for (const MeshAxis& axis : info.param.mesh.axes()) name += fmt::format("_{}{}", axis.name, axis.size);
  return name;
});

}  // namespace
}  // namespace tethys
