#include "checkpoint/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "base/hash.h"
#include "base/temporary_folder.h"
#include "values/host_tensor.h"

namespace tethys {
namespace {

using testing::AllOf;
using testing::HasSubstr;

SafetensorsSource source_of(const std::string& name, const HostTensor& tensor) {
  return {name, tensor.type(), [tensor](std::span<std::byte> out) { std::ranges::copy(tensor.bytes(), out.begin()); }};
}

// The tensors that testdata/make_golden.py writes.
std::map<std::string, HostTensor> golden_tensors() {
  return {{"z.f64", HostTensor::of<double>({2}, {1.5, -2.25})},
          {"layers.0.w", HostTensor::of<float>({2, 3}, {0, 1, 2, 3, 4, 5})},
          {"layers.0.b", HostTensor::scalar<float>(7.5)},
          {"half", HostTensor::from_doubles({DType::BF16, {3, 1}}, std::vector<double>{1.0, -0.5, 3.140625})},
          {"empty", HostTensor::of<uint8_t>({0, 4}, {})},
          {"bytes", HostTensor::of<uint8_t>({3}, {1, 2, 255})}};
}

const Path kGolden = TETHYS_SOURCE_DIR "/tethys/checkpoint/testdata/golden.safetensors";

TEST(Safetensors, ReadsAFileOfTheReferenceImplementation) {
  const SafetensorsFile file(kGolden);
  const auto expected = golden_tensors();
  EXPECT_EQ(file.entries().size(), expected.size());
  EXPECT_EQ(file.metadata(), (std::map<std::string, std::string>{{"format", "pt"}}));
  for (const auto& [name, tensor] : expected) {
    const SafetensorsEntry* entry = file.find(name);
    ASSERT_NE(entry, nullptr) << name;
    const std::span<const std::byte> bytes = file.bytes(*entry);
    EXPECT_EQ(HostTensor(entry->type, {bytes.begin(), bytes.end()}), tensor) << name;
  }
  EXPECT_EQ(file.find("none"), nullptr);
}

TEST(Safetensors, WritesTheBytesOfTheReferenceImplementation) {
  TemporaryFolder folder;
  std::vector<SafetensorsSource> sources;
  for (const auto& [name, tensor] : golden_tensors()) sources.push_back(source_of(name, tensor));
  const WrittenFile written = write_safetensors(folder / "a.safetensors", sources);
  const std::string golden = read_file(kGolden);
  EXPECT_EQ(read_file(folder / "a.safetensors"), golden);
  EXPECT_EQ(written, (WrittenFile{golden.size(), hash_hex(golden)}));
}

TEST(Safetensors, EveryDTypeRoundTripsAligned) {
  TemporaryFolder folder;
  std::vector<SafetensorsSource> sources;
  std::map<std::string, HostTensor> tensors;
  for (DType dtype : kAllDTypes) {
    const std::string name(name_of(dtype));
    tensors[name] = HostTensor::from_doubles({dtype, {3}}, std::vector<double>{0, 1, 1});
    sources.push_back(source_of(name, tensors[name]));
  }
  write_safetensors(folder / "a", sources);
  const SafetensorsFile file(folder / "a");
  EXPECT_EQ(file.entries().size(), std::size(kAllDTypes));
  for (const SafetensorsEntry& entry : file.entries()) {
    const std::span<const std::byte> bytes = file.bytes(entry);
    EXPECT_EQ(HostTensor(entry.type, {bytes.begin(), bytes.end()}), tensors.at(entry.name)) << entry.name;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(bytes.data()) % size_of(entry.type.dtype), 0U) << entry.name;
  }
}

TEST(Safetensors, NamesAreData) {
  TemporaryFolder folder;
  const std::string name = "../\"quoted\"\n\xe2\x82\xac";
  write_safetensors(folder / "a", {source_of(name, HostTensor::scalar<float>(1))});
  EXPECT_EQ(SafetensorsFile(folder / "a").entries().at(0).name, name);
}

TEST(Safetensors, ATakenNameIsABug) {
  TemporaryFolder folder;
  const HostTensor one = HostTensor::scalar<float>(1);
  EXPECT_THROW(write_safetensors(folder / "a", {source_of("w", one), source_of("w", one)}), InternalError);
  EXPECT_THROW(write_safetensors(folder / "a", {source_of("__metadata__", one)}), InternalError);
  EXPECT_FALSE(std::filesystem::exists(folder / "a"));
}

// A file with this header and so many bytes of data; `length` overrides the header's own.
std::string file_of(const std::string& header, size_t data_bytes, uint64_t length = ~uint64_t{0}) {
  if (length == ~uint64_t{0}) length = header.size();
  std::string text(reinterpret_cast<const char*>(&length), 8);
  return text + header + std::string(data_bytes, '\0');
}

std::string error_of(const std::string& content) {
  TemporaryFolder folder;
  write_file(folder / "bad.safetensors", content);
  try {
    SafetensorsFile file(folder / "bad.safetensors");
  } catch (const UserError& e) {
    EXPECT_THAT(e.what(), HasSubstr("/bad.safetensors: "));
    return e.what();
  }
  return "no UserError";
}

std::string entry_of(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}

// The error about one tensor "w" in a file with `data_bytes` of data.
std::string error_of_entry(const std::string& shape, const std::string& offsets, size_t data_bytes,
                           const std::string& dtype = "F32") {
  return error_of(file_of(R"({"w":)" + entry_of(dtype, shape, offsets) + "}", data_bytes));
}

TEST(HostileSafetensors, TheBaseOfTheseCasesIsAccepted) {
  EXPECT_EQ(error_of_entry("[2]", "[0,8]", 8), "no UserError");
  EXPECT_EQ(error_of(file_of("{}", 0)), "no UserError");
}

TEST(HostileSafetensors, Header) {
  EXPECT_THAT(error_of(""), HasSubstr("0 bytes are too few"));
  EXPECT_THAT(error_of("1234567"), HasSubstr("7 bytes are too few"));
  EXPECT_THAT(error_of(file_of("{}", 0, 3)), HasSubstr("cut short"));
  EXPECT_THAT(error_of(file_of("{}", 0, 100'000'001)), HasSubstr("header of 100000001 bytes, where 100000000"));
  EXPECT_THAT(error_of(file_of("{}", 0, ~uint64_t{0} - 1)), HasSubstr("no safetensors file"));
  EXPECT_THAT(error_of(file_of("", 4)), HasSubstr("does not begin with {"));
  EXPECT_THAT(error_of(file_of(" {}", 0)), HasSubstr("does not begin with {"));
  EXPECT_THAT(error_of(file_of("{\"w\":", 0)), HasSubstr("not valid JSON"));
  EXPECT_THAT(error_of(file_of("{}x", 0)), HasSubstr("not valid JSON"));
  EXPECT_THAT(error_of(file_of("{\"\xff\":1}", 0)), HasSubstr("not valid JSON"));
  EXPECT_THAT(error_of(file_of(R"({"w":)" + std::string(100000, '['), 0)), HasSubstr("nested deeper"));
  EXPECT_THAT(error_of(file_of(R"({"w":7})", 0)), HasSubstr("expected an object"));
  EXPECT_THAT(error_of(file_of(R"({"__metadata__":{"a":1}})", 0)), HasSubstr("must be a string"));
  EXPECT_THAT(error_of(file_of(R"({"__metadata__":[]})", 0)), HasSubstr("expected an object of strings"));
}

TEST(HostileSafetensors, DuplicateNames) {
  const std::string entry = R"("w":)" + entry_of("F32", "[1]", "[0,4]");
  EXPECT_THAT(error_of(file_of("{" + entry + "," + entry + "}", 4)), HasSubstr("\"w\" occurs twice"));
  EXPECT_THAT(error_of(file_of(R"({"w":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4)),
              HasSubstr("\"dtype\" occurs twice"));
}

TEST(HostileSafetensors, DTypes) {
  EXPECT_THAT(error_of_entry("[1]", "[0,4]", 4, "f32"), AllOf(HasSubstr("\"f32\" is not one of"), HasSubstr("BF16")));
  EXPECT_THAT(error_of_entry("[4]", "[0,4]", 4, "F8_E4M3"), HasSubstr("\"F8_E4M3\""));
  EXPECT_THAT(error_of_entry("[1]", "[0,4]", 4, "F64"), HasSubstr("takes 8 bytes"));
  EXPECT_THAT(error_of(file_of(R"({"w":{"dtype":7,"shape":[1],"data_offsets":[0,4]}})", 4)), HasSubstr("a string"));
  EXPECT_THAT(error_of(file_of(R"({"w":{"shape":[1],"data_offsets":[0,4]}})", 4)), HasSubstr("\"dtype\" is missing"));
}

TEST(HostileSafetensors, Shapes) {
  EXPECT_THAT(error_of_entry("[-2]", "[0,8]", 8), HasSubstr("\"shape\""));
  EXPECT_THAT(error_of_entry("[2.0]", "[0,8]", 8), HasSubstr("\"shape\""));
  EXPECT_THAT(error_of_entry("[\"2\"]", "[0,8]", 8), HasSubstr("\"shape\""));
  EXPECT_THAT(error_of_entry("2", "[0,8]", 8), HasSubstr("\"shape\""));
  EXPECT_THAT(error_of_entry("[3]", "[0,8]", 8), HasSubstr("takes 12 bytes"));
  // 2^62 elements of 4 bytes are 2^64 bytes, which a product without a check takes for 0.
  EXPECT_THAT(error_of_entry("[4611686018427387904]", "[0,0]", 0), HasSubstr("overflows"));
  EXPECT_THAT(error_of_entry("[4294967296,4294967296]", "[0,0]", 0), HasSubstr("overflows"));
  EXPECT_THAT(error_of_entry("[0,4294967296,4294967296]", "[0,0]", 0), HasSubstr("overflows"));
  EXPECT_THAT(error_of_entry("[9223372036854775808]", "[0,0]", 0), HasSubstr("\"shape\""));
  EXPECT_THAT(error_of_entry("[18446744073709551617]", "[0,4]", 4), HasSubstr("\"shape\""));
}

TEST(HostileSafetensors, Offsets) {
  EXPECT_THAT(error_of_entry("[2]", "[8,0]", 8), HasSubstr("run backwards"));
  EXPECT_THAT(error_of_entry("[2]", "[-8,0]", 8), HasSubstr("\"data_offsets\""));
  EXPECT_THAT(error_of_entry("[2]", "[0.0,8]", 8), HasSubstr("\"data_offsets\""));
  EXPECT_THAT(error_of_entry("[2]", "[0,8,8]", 8), HasSubstr("must be [begin, end]"));
  EXPECT_THAT(error_of_entry("[2]", "[0]", 8), HasSubstr("must be [begin, end]"));
  EXPECT_THAT(error_of_entry("[2]", "[0,9223372036854775807]", 8), HasSubstr("takes 8 bytes"));
  EXPECT_THAT(error_of_entry("[2]", "[18446744073709551608,18446744073709551616]", 8), HasSubstr("\"data_offsets\""));
}

TEST(HostileSafetensors, OverlapHoleAndLength) {
  auto error_of_two = [](const std::string& a, const std::string& b, size_t data_bytes) {
    return error_of(
        file_of(R"({"a":)" + entry_of("U8", "[4]", a) + R"(,"b":)" + entry_of("U8", "[4]", b) + "}", data_bytes));
  };
  EXPECT_EQ(error_of_two("[4,8]", "[0,4]", 8), "no UserError");
  EXPECT_THAT(error_of_two("[0,4]", "[0,4]", 8), AllOf(HasSubstr("\"b\""), HasSubstr("overlap")));
  EXPECT_THAT(error_of_two("[0,4]", "[3,7]", 7), AllOf(HasSubstr("\"b\""), HasSubstr("overlap")));
  EXPECT_THAT(error_of_two("[0,4]", "[5,9]", 9), AllOf(HasSubstr("\"b\""), HasSubstr("hole")));
  EXPECT_THAT(error_of_two("[1,5]", "[5,9]", 9), AllOf(HasSubstr("\"a\""), HasSubstr("hole")));
  EXPECT_THAT(error_of_two("[0,4]", "[4,8]", 7), HasSubstr("cut short"));
  EXPECT_THAT(error_of_two("[0,4]", "[4,8]", 9), HasSubstr("longer than its header says"));
}

}  // namespace
}  // namespace tethys
