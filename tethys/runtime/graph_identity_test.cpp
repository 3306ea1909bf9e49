#include "runtime/graph_identity.h"

#include <gtest/gtest.h>

#include <functional>

#include "ops/registry.h"
#include "ops/shape/splat.h"
#include "runtime/executor.h"

namespace tethys {
namespace {

using Build = std::function<void(Graph&)>;

bool same(const Build& a, const Build& b) {
  Graph first;
  a(first);
  Graph second;
  b(second);
  const bool equal = same_program(first, second);
  EXPECT_TRUE(!equal || graph_hash(first) == graph_hash(second));
  return equal;
}

Build sum_with_constant(float value, const std::string& name, Placement placement = {}) {
  return [=](Graph& g) {
    const Value x = g.input({DType::F32, {}}, name, placement);
    const Scope scope(g, name);
    g.set_outputs({add(x, constant(g, HostTensor::scalar<float>(value)))});
  };
}

TEST(SameProgram, NamesDoNotCount) { EXPECT_TRUE(same(sum_with_constant(1, "x"), sum_with_constant(1, "y"))); }

TEST(SameProgram, TheElementsOfConstantsCount) {
  EXPECT_FALSE(same(sum_with_constant(1, "x"), sum_with_constant(2, "x")));
}

TEST(SameProgram, PlacementsOfInputsCount) {
  EXPECT_FALSE(same(sum_with_constant(1, "x", {replicate()}), sum_with_constant(1, "x", {partial()})));
}

TEST(SameProgram, OpsOperandsAndOutputsCount) {
  auto build = [](bool swapped, bool product, bool both) {
    return [=](Graph& g) {
      const Value x = g.input({DType::F32, {}}, "x");
      const Value y = g.input({DType::F32, {}}, "y");
      const Value z = product ? multiply(x, y) : swapped ? subtract(y, x) : subtract(x, y);
      g.set_outputs(both ? std::vector<Value>{z, x} : std::vector<Value>{z});
    };
  };
  EXPECT_TRUE(same(build(false, false, false), build(false, false, false)));
  EXPECT_FALSE(same(build(false, false, false), build(true, false, false)));
  EXPECT_FALSE(same(build(false, false, false), build(false, true, false)));
  EXPECT_FALSE(same(build(false, false, false), build(false, false, true)));
}

TEST(ModeNames, RoundTrip) {
  for (const char* name : {"eager", "deferred", "compile", "graph"}) EXPECT_EQ(name_of(parse_mode(name)), name);
  EXPECT_THROW(parse_mode("jit"), UserError);
}

}  // namespace
}  // namespace tethys
