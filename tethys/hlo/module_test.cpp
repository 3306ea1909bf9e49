#include "hlo/module.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "hlo/wire_testing.h"

namespace tethys::hlo {
namespace {

std::string program(const std::string& instructions, int64_t root, const std::string& schedule = "") {
  const std::string computation = bytes(1, "main") + instructions + number(5, 7) + number(6, root);
  const std::string module = bytes(1, "step") + bytes(3, computation) + number(6, 7) + schedule;
  return bytes(1, module);
}

// a[2,3] · b[3,5], and a gather of the product over groups {0, 2}, {1, 3} of four devices.
std::string small_program(const std::string& notes = R"({"window_config":{"estimated_cycles":"1234"}})") {
  const std::string contracting = bytes(30, bytes(1, varint(1)));
  const std::string dot =
      bytes(36, varint(1) + varint(2)) + contracting + bytes(43, notes) + bytes(7, bytes(2, "layers.3.feed_forward"));
  const std::string iota =
      number(1, 2) + number(2, 2) + bytes(3, varint(2) + varint(2)) + bytes(4, varint(1) + varint(0));
  const std::string gather = bytes(36, varint(3)) + bytes(87, bytes(2, iota));
  // As listed the gather comes first: the schedule says otherwise.
  const std::string listed = instruction(4, "all-gather", shape_bytes(kBf16, {4, 5}), gather) +
                             instruction(1, "parameter", shape_bytes(kBf16, {2, 3})) +
                             instruction(2, "parameter", shape_bytes(kBf16, {3, 5}), number(9, 1)) +
                             instruction(3, "dot", shape_bytes(kF32, {2, 5}), dot);
  const std::string sequence = bytes(1, varint(1) + varint(2) + varint(3) + varint(4));
  return program(listed, 4, bytes(7, bytes(1, number(1, 7) + bytes(2, sequence))));
}

TEST(ReadModule, GivesInstructionsAsTheyAreScheduled) {
  const Module module = read_module(small_program());
  EXPECT_EQ(module.name, "step");
  const std::vector<Instruction>& all = module.entry().instructions;
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[1].opcode, "parameter");
  EXPECT_EQ(all[1].index, 1);
  EXPECT_EQ(all[2].opcode, "dot");
  EXPECT_EQ(all[2].operands, (std::vector<size_t>{0, 1}));
  EXPECT_EQ(all[2].scope, "layers.3.feed_forward");
  EXPECT_EQ(all[2].cycles, 1234);
  EXPECT_EQ(all[2].flops, 2.0 * 2 * 3 * 5);
  EXPECT_EQ(all[2].shape.bytes(), 2 * 5 * 4);
  EXPECT_EQ(all[3].shape.bytes(), 4 * 5 * 2);
  EXPECT_EQ(all[3].groups, (std::vector<std::vector<int64_t>>{{0, 2}, {1, 3}}));
  EXPECT_EQ(module.entry().root, 3u);
}

TEST(ReadModule, TakesTheLargestNumberForNoEstimate) {
  const auto cycles = [](const std::string& notes) {
    return read_module(small_program(notes)).entry().instructions[2].cycles;
  };
  EXPECT_EQ(cycles(R"({"estimated_cycles":"77"})"), 77);
  EXPECT_EQ(cycles(R"({"estimated_cycles":"9223372036854775807"})"), std::nullopt);
  EXPECT_EQ(cycles(R"({"flag_configs":[]})"), std::nullopt);
  EXPECT_EQ(cycles("no JSON"), std::nullopt);
}

TEST(ReadModule, RefusesWhatIsNoProgram) {
  EXPECT_THROW(read_module("no program at all"), UserError);
  EXPECT_THROW(read_module(""), UserError);
  const std::string lost = instruction(1, "negate", shape_bytes(kF32, {2}), bytes(36, varint(9)));
  EXPECT_THROW(read_module(program(lost, 1)), UserError);  // an operand that is not there
  EXPECT_THROW(read_module(program(instruction(1, "parameter", shape_bytes(kF32, {2})), 5)), UserError);
}

// Two batches of [4,8] · [8,16], as a compiler writes them: the batch is a spatial dimension, of which each part of the
// kernel meets one of the input.
TEST(ReadModule, CountsAProductThatIsWrittenAsAConvolution) {
  const std::string dims = number(3, 1) + number(4, 2) + bytes(6, varint(0)) + bytes(11, varint(0)) +
                           bytes(12, varint(0)) + number(7, 1) + number(8, 2);
  const std::string spread =
      bytes(1, number(1, 2) + number(2, 1) + number(3, 0) + number(4, 0) + number(5, 1) + number(6, 2));
  const std::string product = bytes(36, varint(1) + varint(2)) + bytes(15, spread) + bytes(16, dims);
  const std::string all = instruction(1, "parameter", shape_bytes(kBf16, {2, 4, 8})) +
                          instruction(2, "parameter", shape_bytes(kBf16, {2, 8, 16}), number(9, 1)) +
                          instruction(3, "convolution", shape_bytes(kBf16, {2, 4, 16}), product);
  EXPECT_EQ(read_module(program(all, 3)).entry().instructions[2].flops, 2.0 * 2 * 4 * 8 * 16);
}

TEST(GroupsOfIota, FollowTheirDefinition) {
  using Groups = std::vector<std::vector<int64_t>>;
  EXPECT_EQ(groups_of_iota({4}, {}, 2), (Groups{{0, 1}, {2, 3}}));
  EXPECT_EQ(groups_of_iota({2, 4}, {1, 0}, 2), (Groups{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
  EXPECT_EQ(groups_of_iota({2, 2, 2}, {1, 0, 2}, 4), (Groups{{0, 1, 4, 5}, {2, 3, 6, 7}}));
  EXPECT_THROW(groups_of_iota({4}, {}, 3), UserError);
}

}  // namespace
}  // namespace tethys::hlo
