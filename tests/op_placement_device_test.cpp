// Every op's samples, with operands placed in many ways on meshes of virtual devices, against the same op on one
// device.
#include <gtest/gtest.h>

#include <map>

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

// One graph that applies the op to its samples in many placements, and what it should give.
struct Case {
  Graph graph;
  std::vector<HostTensor> inputs;
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

using Wholes = std::vector<std::vector<double>>;

// The results of an op's samples on one device, sample after sample; computed once.
const std::vector<Wholes>& on_one_device(const OpRecord& op) {
  static std::map<const OpRecord*, std::vector<Wholes>> known;
  const auto [found, is_new] = known.try_emplace(&op);
  if (!is_new) return found->second;
  Case one;
  std::vector<Value> outputs;
  std::vector<size_t> ends;
  for (const Sample& sample : op.samples()) {
    one.add(op, sample, std::vector<Placement>(sample.operands.size()), outputs);
    ends.push_back(outputs.size());
  }
  one.graph.set_outputs(outputs);
  const auto results = run(make_program(one.graph, Mesh(), {}), one.inputs);
  for (size_t i = 0; i < results.size(); ++i) {
    if (found->second.empty() || i == ends[found->second.size() - 1]) found->second.emplace_back();
    found->second.back().push_back(results[i][0]);
  }
  return found->second;
}

struct Setting {
  const OpRecord* op;
  Mesh mesh;
};

class OpPlacement : public testing::TestWithParam<Setting> {};

TEST_P(OpPlacement, GivesWhatOneDeviceGives) {
  const auto& [op, mesh] = GetParam();
  Case placed;
  Wholes all_expected;
  std::vector<Value> outputs;
  double tolerance = 1e-12;
  size_t next = 0;
  for (const Sample& sample : op->samples()) {
    const Wholes& expected = on_one_device(*op).at(next++);
    for (const HostTensor& o : sample.operands) {
      if (is_floating(o.type().dtype) && o.type().dtype != DType::F64) tolerance = 1e-6;
    }
    for (const auto& placements : combinations(sample, mesh)) {
      placed.add(*op, sample, placements, outputs);
      all_expected.insert(all_expected.end(), expected.begin(), expected.end());
    }
  }
  placed.graph.set_outputs(outputs);
  const auto results = run(make_program(placed.graph, mesh, {}), placed.inputs);
  ASSERT_EQ(results.size(), all_expected.size());
  for (size_t i = 0; i < results.size(); ++i) {
    for (const auto& whole : results[i]) expect_close(whole, all_expected[i], tolerance, placed.names[i]);
  }
}

std::vector<Setting> settings() {
  std::vector<Setting> all;
  for (const OpRecord* op : all_ops()) {
    if (op->samples == nullptr) continue;
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
