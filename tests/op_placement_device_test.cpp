// Every op's samples, with operands placed in many ways on meshes of virtual devices, against the same op on one
// device.
#include <gtest/gtest.h>

#include "ops/registry.h"
#include "placement_testing.h"

namespace tethys {
namespace {

using namespace placement_testing;

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
  constexpr int64_t kMost = 24;
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

// One graph that applies the op to its samples in many placements, and what it should give.
struct Case {
  Graph graph;
  std::vector<HostTensor> inputs;
  std::vector<std::vector<double>> expected;
  std::vector<std::string> names;

  void add(const OpRecord& op, const Sample& sample, const std::vector<Placement>& placements,
           std::vector<Value>& outputs) {
    std::vector<Value> operands;
    std::vector<TensorType> types;
    std::string name = fmt::format("{} '{}' on", op.name, sample.name);
    for (size_t i = 0; i < sample.operands.size(); ++i) {
      types.push_back(sample.operands[i].type());
      operands.push_back(graph.input(types[i], fmt::format("in{}", inputs.size()), placements[i]));
      inputs.push_back(sample.operands[i]);
      name += " " + to_string(placements[i]);
    }
    Regions regions = sample.regions ? sample.regions(types) : Regions{};
    for (const Value& v : graph.append(op, sample.attributes, operands, std::move(regions), sample.declared)) {
      outputs.push_back(v);
      names.push_back(name);
    }
  }
};

std::vector<std::vector<double>> on_one_device(const OpRecord& op, const Sample& sample) {
  Case one;
  std::vector<Value> outputs;
  one.add(op, sample, std::vector<Placement>(sample.operands.size()), outputs);
  one.graph.set_outputs(outputs);
  std::vector<std::vector<double>> results;
  for (const auto& wholes : run(make_program(one.graph, Mesh(), {}), one.inputs)) results.push_back(wholes[0]);
  return results;
}

struct Setting {
  const OpRecord* op;
  Mesh mesh;
};

class OpPlacement : public testing::TestWithParam<Setting> {};

TEST_P(OpPlacement, GivesWhatOneDeviceGives) {
  const auto& [op, mesh] = GetParam();
  Case placed;
  std::vector<Value> outputs;
  double tolerance = 1e-12;
  for (const Sample& sample : op->samples()) {
    const auto expected = on_one_device(*op, sample);
    for (const HostTensor& o : sample.operands) {
      if (is_floating(o.type().dtype) && o.type().dtype != DType::F64) tolerance = 1e-6;
    }
    for (const auto& placements : combinations(sample, mesh)) {
      placed.add(*op, sample, placements, outputs);
      placed.expected.insert(placed.expected.end(), expected.begin(), expected.end());
    }
  }
  placed.graph.set_outputs(outputs);
  const auto results = run(make_program(placed.graph, mesh, {}), placed.inputs);
  ASSERT_EQ(results.size(), placed.expected.size());
  for (size_t i = 0; i < results.size(); ++i) {
    for (const auto& whole : results[i]) expect_close(whole, placed.expected[i], tolerance, placed.names[i]);
  }
}

std::vector<Setting> settings() {
  std::vector<Setting> all;
  for (const OpRecord* op : all_ops()) {
    if (op->samples == nullptr) continue;
    all.push_back({op, Mesh({{"x", 2}})});
    all.push_back({op, Mesh({{"x", 4}})});
    all.push_back({op, Mesh({{"x", 2}, {"y", 2}})});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(AllOps, OpPlacement, testing::ValuesIn(settings()), [](const auto& info) {
  std::string name = info.param.op->name;
  for (const MeshAxis& axis : info.param.mesh.axes()) name += fmt::format("_{}{}", axis.name, axis.size);
  return name;
});

}  // namespace
}  // namespace tethys
