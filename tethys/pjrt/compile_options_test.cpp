#include "pjrt/compile_options.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace tethys::pjrt {
namespace {

using namespace std::string_literals;

// Expected bytes are the wire format written by hand: a tag is the field's number times 8 plus its kind (0 a number,
// 1 eight bytes, 2 a length and that many bytes).

// executable_build_options = 3 { device_ordinal = 1: -1, num_replicas = 4, num_partitions = 5 }
const std::string kMinusOne = "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s;

TEST(CompileOptions, TheDefaultIsOneDeviceAndNoneInParticular) {
  EXPECT_EQ(serialize({}), "\x1a\x0f"s + kMinusOne + "\x20\x01\x28\x01"s);
}

TEST(CompileOptions, PartitionsAreSpmdInField6) {
  EXPECT_EQ(serialize({.num_partitions = 8, .use_spmd_partitioning = true}),
            "\x1a\x11"s + kMinusOne + "\x20\x01\x28\x08\x30\x01"s);
}

TEST(CompileOptions, TheDeviceAssignmentListsReplicasByPartition) {
  CompileOptions options{.num_replicas = 2, .num_partitions = 1};
  options.device_assignment = std::vector<std::vector<int64_t>>{{5, 3}};
  // device_assignment = 9 { replica_count = 1: 2, computation_count = 2: 1, computation_devices = 3 { 1: [5, 3] } }
  EXPECT_EQ(serialize(options),
            "\x1a\x1b"s + kMinusOne + "\x20\x02\x28\x01"s + "\x4a\x0a\x08\x02\x10\x01\x1a\x04\x0a\x02\x05\x03"s);
}

TEST(CompileOptions, OverridesKeepTheirTypes) {
  const auto entry = [](const OptionValue& value) {
    CompileOptions options;
    options.env_option_overrides["k"] = value;
    const std::string bytes = serialize(options);
    return bytes.substr(17);  // after the build options
  };
  // env_option_overrides = 7 { key = 1: "k", value = 2 { string 1 | bool 2 | int64 3 | double 4 } }
  EXPECT_EQ(entry("ab"s), "\x3a\x09\x0a\x01k\x12\x04\x0a\x02"s + "ab"s);
  EXPECT_EQ(entry(true), "\x3a\x07\x0a\x01k\x12\x02\x10\x01"s);
  EXPECT_EQ(entry(int64_t{7}), "\x3a\x07\x0a\x01k\x12\x02\x18\x07"s);
  EXPECT_EQ(entry(1.0), "\x3a\x0e\x0a\x01k\x12\x09\x21\x00\x00\x00\x00\x00\x00\xf0\x3f"s);
}

TEST(CompileOptions, TheSameOptionsGiveTheSameBytesWhateverTheOrderOfInsertion) {
  CompileOptions forward, backward;
  for (int i = 0; i < 100; ++i) forward.env_option_overrides[std::to_string(i)] = int64_t{i};
  for (int i = 99; i >= 0; --i) backward.env_option_overrides[std::to_string(i)] = int64_t{i};
  EXPECT_EQ(serialize(forward), serialize(backward));
}

TEST(CompileOptions, AnAssignmentThatDoesNotFitTheCountsIsABug) {
  CompileOptions options{.num_partitions = 2};
  options.device_assignment = std::vector<std::vector<int64_t>>{{0}};
  EXPECT_THROW(serialize(options), InternalError);
  options.device_assignment = std::vector<std::vector<int64_t>>{{0, 1}, {2, 3}};
  EXPECT_THROW(serialize(options), InternalError);
}

TEST(CompileOptions, ATextLiteralIsTextAndNotABool) {
  CompileOptions options;
  options.env_option_overrides = {{"xla_dump_to", "folder"}};
  EXPECT_EQ(std::get<std::string>(options.env_option_overrides.at("xla_dump_to")), "folder");
}

}  // namespace
}  // namespace tethys::pjrt
