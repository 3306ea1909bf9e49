#include "transforms/lower.h"

#include <gtest/gtest.h>

#include "ops/control/redistribute.h"
#include "ops/control/scan.h"
#include "ops/dot/dot.h"
#include "ops/reduce/reduce.h"
#include "ops/registry.h"

namespace tethys {
namespace {

const Mesh kMesh({{"dp_shard", 2}});

TEST(MakeProgram, ListsTheCollectivesThatItWaitsForThoseOfRegionsToo) {
  Graph g;
  const Value w = g.input({DType::F32, {4, 4}}, "w", Placement{shard(0)});
  const Value x = g.input({DType::F32, {4, 4}}, "x", Placement{shard(0)});
  const ScanResults out = scan(g, 3, {{w}, {x}, {}}, [](Graph&, const ScanOperands& in) {
    const Value whole = redistribute(in.consts[0], {replicate()});
    return ScanResults{{dot(in.carries[0], whole, {{}, {}, {1}, {0}})}, {}};
  });
  g.set_outputs({redistribute(reduce_sum(out.carries[0], {0, 1}), {replicate()})});
  EXPECT_EQ(make_program(g, kMesh, {}).waits, "all_gather ×1, all_reduce ×1");
}

const KernelRecord kTwice = {
    .name = "twice",
    .infer = [](const OpCall& call) { return call.operands; },
    .reference = [](Graph&, const Attributes&,
                    const std::vector<Value>& operands) { return std::vector<Value>{add(operands[0], operands[0])}; },
    .factors = [](const OpCall& call) { return elementwise_factors(call.operands[0].dims, 1, Linearity::Single); },
    .lowerings = {{.platform = "cpu", .target = "twice_on_cpu", .version = "3"}},
};

TEST(MakeProgram, ListsTheHandlersThatItCallsWithTheirVersions) {
  Graph g;
  const Value x = g.input({DType::F32, {4}}, "x");
  g.set_outputs(kernel(kTwice, g, {}, kernel(kTwice, g, {}, {x})));
  const Program with = make_program(g, Mesh(), {.platform = "cpu", .kernels = {"twice"}});
  EXPECT_EQ(with.callees, (std::vector<Callee>{{"twice_on_cpu", "3"}}));
  EXPECT_EQ(with.waits, "handlers twice_on_cpu ×2");
  const Program without = make_program(g, Mesh(), {.platform = "cpu", .kernels = {}});
  EXPECT_TRUE(without.callees.empty());
  EXPECT_EQ(without.waits, "");
}

}  // namespace
}  // namespace tethys
