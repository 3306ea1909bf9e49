#include "hlo/memory_plan.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "hlo/testing.h"
#include "hlo/wire_testing.h"

namespace tethys::hlo {
namespace {

// Of a buffer: its number, bytes, and the instruction that it is for.
std::string logical_buffer(int64_t id, int64_t size, int64_t instruction_id) {
  return bytes(1, number(1, id) + number(2, size) + bytes(3, number(4, instruction_id)));
}

enum Event { kTaken = 0, kFreed = 1, kShared = 2 };
std::string event(Event kind, int64_t buffer, int64_t shares = 0) {
  return bytes(1, number(1, kind) + number(2, buffer) + (kind == kShared ? number(5, shares) : ""));
}

std::string dump(const std::string& buffers, const std::string& events) {
  const std::string all = instruction(11, "parameter", shape_bytes(kF32, {8})) +
                          instruction(12, "negate", shape_bytes(kF32, {8}), bytes(36, varint(11))) +
                          instruction(13, "copy", shape_bytes(kF32, {8}), bytes(36, varint(12))) +
                          instruction(14, "add", shape_bytes(kF32, {8}), bytes(36, varint(12) + varint(13)));
  const std::string computation = bytes(1, "main") + all + number(5, 7) + number(6, 14);
  // An arena of 100 bytes in the main memory, and a larger one elsewhere.
  const std::string allocations =
      bytes(3, number(1, 5) + number(2, 100)) + bytes(3, number(1, 6) + number(2, 900) + number(8, 1));
  const std::string traces = bytes(4, events + number(3, 5)) + bytes(4, event(kTaken, 1) + number(3, 6));
  return bytes(1, bytes(3, computation) + number(6, 7)) + bytes(3, buffers + allocations + traces);
}

TEST(MemoryPlan, HoldsWhatIsAliveWhereMostIs) {
  // 32 and 40 bytes together; then the first is freed, though what it shares its memory with is not; then 16 more: 88.
  // At the end only 16 are left, and 60 come.
  const std::string buffers = logical_buffer(1, 32, 12) + logical_buffer(2, 40, 13) + logical_buffer(3, 16, 14) +
                              logical_buffer(4, 32, 14) + logical_buffer(5, 60, 11);
  const MemoryPlan plan =
      read_memory_plan(dump(buffers, event(kTaken, 1) + event(kTaken, 2) + event(kShared, 4, 1) + event(kFreed, 1) +
                                         event(kTaken, 3) + event(kFreed, 4) + event(kFreed, 2) + event(kTaken, 5)));
  EXPECT_EQ(plan.temporaries, 100);
  ASSERT_EQ(plan.fullest.size(), 3u);
  EXPECT_EQ(plan.fullest[0].bytes, 40);
  EXPECT_EQ(plan.at(plan.fullest[0].values.at(0)).opcode, "copy");
  EXPECT_EQ(plan.fullest[1].bytes, 32);
  ASSERT_EQ(plan.fullest[1].values.size(), 2u);
  EXPECT_EQ(plan.at(plan.fullest[1].values[0]).opcode, "negate");
  EXPECT_EQ(plan.at(plan.fullest[1].values[1]).opcode, "add");
  EXPECT_EQ(plan.fullest[2].bytes, 16);
}

TEST(MemoryPlan, RefusesWhatIsNone) {
  EXPECT_THROW(read_memory_plan(""), UserError);
  EXPECT_THROW(read_memory_plan(bytes(1, bytes(1, "no plan"))), UserError);
  EXPECT_THROW(read_memory_plan(dump("", event(kTaken, 1))), UserError);
  EXPECT_THROW(read_memory_plan(dump(logical_buffer(1, 8, 99), event(kTaken, 1))), UserError);
  EXPECT_THROW(read_memory_plan(dump(logical_buffer(1, 8, 12), event(kFreed, 1))), UserError);
  EXPECT_THROW(read_memory_plan(dump(logical_buffer(1, 8, 12), event(kShared, 1, 2))), UserError);
}

TEST(Leaves, AreTheArraysOfATupleInOrder) {
  const Shape nested = tuple_of({shape("f32", {2}), tuple_of({shape("s32"), tuple_of({})}), shape("bf16", {3})});
  EXPECT_EQ(leaf_count(nested), 3u);
  EXPECT_EQ(leaf_of(nested, 1).dtype, "s32");
  EXPECT_EQ(leaf_of(nested, 2).dtype, "bf16");
  EXPECT_EQ(leaf_count(shape("f32")), 1u);
}

}  // namespace
}  // namespace tethys::hlo
