// The StableHLO text of every op's samples, against the files in golden/ops. `make golden` rewrites them; read the
// diff.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "base/file.h"
#include "support/op_samples.h"
#include "transforms/lower.h"

namespace tethys {
namespace {

using namespace op_samples;

const Path kFolder = TETHYS_SOURCE_DIR "/tests/golden/ops";

std::string text_of(const SampledOp& s) {
  Graph graph;
  graph.set_outputs(apply(graph, s, inputs_of(graph, s.sample)));
  Capabilities all;
  all.host_memory = true;
  return make_program(graph, Mesh(), all).text;
}

std::string golden_of(const std::vector<SampledOp>& samples) {
  std::string text;
  for (const SampledOp& s : samples) text += fmt::format("// {}\n{}", s.sample.name, text_of(s));
  return text;
}

bool updating() { return std::getenv("TETHYS_UPDATE_GOLDEN") != nullptr; }

class OpGolden : public testing::TestWithParam<std::vector<SampledOp>> {};

TEST_P(OpGolden, TextIsWhatTheFileSays) {
  const Path path = kFolder / (GetParam()[0].name() + ".txt");
  const std::string text = golden_of(GetParam());
  if (updating()) write_file(path, text);
  ASSERT_TRUE(std::filesystem::exists(path)) << path << " is missing: `make golden` writes it";
  EXPECT_EQ(text, read_file(path)) << "if the change is meant, `make golden` takes it over";
}

INSTANTIATE_TEST_SUITE_P(AllOps, OpGolden, testing::ValuesIn(samples_by_op()),
                         [](const auto& info) { return info.param[0].name(); });

TEST(OpGoldenFiles, EachBelongsToAnOp) {
  std::set<std::string> names;
  for (const auto& samples : samples_by_op()) names.insert(samples[0].name() + ".txt");
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    EXPECT_TRUE(names.contains(entry.path().filename().string())) << entry.path() << " belongs to no op";
  }
}

// All checks of ops run over samples, so an op without any would be checked by none.
TEST(OpSamples, EveryOpHasSomeUnlessItNeedsAMeshOrForeignCode) {
  const std::set<std::string> without = {"all_gather",         "all_reduce",  "all_to_all", "axis_index",
                                         "collective_permute", "custom_call", "kernel",     "reduce_scatter"};
  for (const OpRecord* op : all_ops()) {
    const bool sampled = op->samples != nullptr && !op->samples().empty();
    EXPECT_NE(sampled, without.contains(op->name)) << op->name;
  }
}

// The program of 512 devices needs no client: text and ports follow from the mesh alone.
TEST(MakeProgram, For512DevicesNeedsNoClient) {
  const Mesh mesh({{"dp_replicate", 2}, {"dp_shard", 64}, {"tp", 4}});
  Graph graph;
  const Value x = graph.input({DType::F32, {1024, 256}}, "x", Placement{shard(0), shard(0), replicate()});
  const Value w = graph.input({DType::F32, {1024, 256}}, "w", Placement{replicate(), replicate(), shard(1)});
  graph.set_outputs({multiply(x, w), reduce_sum(x, {0})});
  const Program program = make_program(graph, mesh, {});
  EXPECT_NE(program.text.find("mhlo.num_partitions = 512"), std::string::npos);
  ASSERT_EQ(program.inputs.size(), 2U);
  EXPECT_EQ(program.inputs[0].type, (TensorType{DType::F32, {1024, 256}}));
  EXPECT_EQ(program.inputs[0].placement, (Placement{shard(0), shard(0), replicate()}));
  EXPECT_NE(program.text.find("tensor<8x256xf32>"), std::string::npos);    // x on one device
  EXPECT_NE(program.text.find("tensor<1024x64xf32>"), std::string::npos);  // w on one device
  EXPECT_EQ(program.outputs[1].placement, (Placement{partial(), partial(), replicate()}));
}

}  // namespace
}  // namespace tethys
