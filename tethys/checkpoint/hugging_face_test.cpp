#include "checkpoint/hugging_face.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/temporary_folder.h"
#include "values/host_tensor.h"

namespace tethys {
namespace {

using testing::HasSubstr;

SafetensorsSource source(const std::string& name, std::vector<float> values) {
  const auto tensor =
      std::make_shared<HostTensor>(HostTensor::of<float>({static_cast<int64_t>(values.size())}, values));
  return {name, tensor->type(), {}, [tensor] { return std::as_const(*tensor).bytes(); }};
}

std::vector<std::string> names_in(const Path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

TEST(HuggingFace, FewWeightsAreOneFile) {
  const TemporaryFolder folder;
  write_hugging_face(folder.path(), {source("b", {1, 2}), source("a", {3})}, 12);
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"model.safetensors"});
  const Manifest manifest = read_hugging_face(folder.path());
  EXPECT_EQ(manifest.tensors.at("b").type, (TensorType{DType::F32, {2}}));
  EXPECT_EQ(manifest.tensors.at("a").pieces.at(0).file, "model.safetensors");
}

TEST(HuggingFace, ShardsAreFilledInOrderAndALargeTensorIsAlone) {
  const TemporaryFolder folder;
  write_hugging_face(folder.path(),
                     {source("d", {1, 2}), source("a", {3}), source("big", {1, 2, 3, 4}), source("c", {5})}, 12);
  EXPECT_EQ(names_in(folder.path()),
            (std::vector<std::string>{"model-00001-of-00003.safetensors", "model-00002-of-00003.safetensors",
                                      "model-00003-of-00003.safetensors", "model.safetensors.index.json"}));
  EXPECT_EQ(read_file(folder / "model.safetensors.index.json"), R"({
  "metadata": {
    "total_size": 32
  },
  "weight_map": {
    "a": "model-00001-of-00003.safetensors",
    "big": "model-00002-of-00003.safetensors",
    "c": "model-00003-of-00003.safetensors",
    "d": "model-00001-of-00003.safetensors"
  }
}
)");
  EXPECT_EQ(read_hugging_face(folder.path()).tensors.size(), 4U);
}

// A folder with the tensors a in one.safetensors and b in two.safetensors.
class Indexed : public testing::Test {
 protected:
  Indexed() {
    write_safetensors(folder_ / "one.safetensors", {source("a", {1})});
    write_safetensors(folder_ / "two.safetensors", {source("b", {2})});
  }
  void expect_refused(const std::string& index, const std::string& reason) {
    write_file(folder_ / "model.safetensors.index.json", index);
    try {
      read_hugging_face(folder_.path());
      ADD_FAILURE() << "accepted: " << index;
    } catch (const UserError& error) {
      EXPECT_THAT(error.what(), HasSubstr(reason)) << index;
    }
  }
  TemporaryFolder folder_;
};

TEST_F(Indexed, IsReadByItsIndex) {
  write_file(folder_ / "model.safetensors.index.json",
             R"({"weight_map":{"a":"one.safetensors","b":"two.safetensors"}})");
  const Manifest manifest = read_hugging_face(folder_.path());
  EXPECT_EQ(manifest.tensors.at("b").pieces.at(0).file, "two.safetensors");
  EXPECT_EQ(manifest.files.size(), 2U);
}

TEST_F(Indexed, WhatDoesNotHoldIsRefusedByName) {
  const auto map = [](const std::string& inside) { return "{\"weight_map\":{" + inside + "}}"; };
  const std::string a = R"("a":"one.safetensors",)", b = R"("b":"two.safetensors")";
  const std::pair<std::string, std::string> cases[] = {
      {"{", "not valid JSON"},
      {"[]", "expected an object"},
      {"{}", "\"weight_map\" is missing"},
      {R"({"weight_map":[]})", "\"weight_map\" must be an object, got array"},
      {map(""), "lists no tensor"},
      {map(a + R"("b":2)"), "\"b\" must be a string, got 2"},
      {map(a + R"("b":"../two.safetensors")"), "tensor \"b\": \"../two.safetensors\" is not a plain name"},
      {map(a + R"("b":"/etc/passwd")"), "\"/etc/passwd\" is not a plain name"},
      {map(a + R"("b":"..")"), "\"..\" is not a plain name"},
      {map(a + R"("b":"")"), "\"\" is not a plain name"},
      {map(a + R"("b":"x\u0000y")"), "is not a plain name"},
      {map(a + R"("b":"three.safetensors")"), "tensor \"b\" is in three.safetensors, and there is no such file"},
      {map(a + b + R"(,"c":"two.safetensors")"), "tensor \"c\" should be in two.safetensors, and is in no file"},
      {map(a + R"("b":"one.safetensors")"), "tensor \"b\" should be in one.safetensors, and is in no file"},
      {map(R"("a":"two.safetensors",)" + b), "tensor \"a\" should be in two.safetensors, and is in no file"},
      {map(a + R"("b":"one.safetensors","c":"two.safetensors")"),
       "tensor \"b\" should be in one.safetensors, and is in two.safetensors"},
      {map(a + a + b), "\"a\" occurs twice"},
  };
  for (const auto& [index, reason] : cases) {
    expect_refused(index, reason);
  }
  write_safetensors(folder_ / "two.safetensors", {source("b", {2}), source("x", {2})});
  expect_refused(map(a + b), "tensor \"x\" is in two.safetensors, but not in the index");
  write_safetensors(folder_ / "two.safetensors", {source("b", {2}), source("a", {2})});
  expect_refused(map(a + b), "tensor \"a\" is in one.safetensors and in two.safetensors");
  write_file(folder_ / "two.safetensors", "cut");
  expect_refused(map(a + b), "two.safetensors: 3 bytes are too few");
}

TEST(HuggingFace, AFolderWithoutSafetensorsSaysWhatIsExpected) {
  const TemporaryFolder folder;
  write_file(folder / "pytorch_model.bin", "");
  try {
    read_hugging_face(folder.path());
    FAIL();
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("expected model.safetensors or model.safetensors.index.json"));
  }
}

TEST(HuggingFace, TiedTensorsAreComparedByteByByte) {
  const TemporaryFolder folder;
  const auto differ = [&](const SafetensorsSource& second) -> std::string {
    write_safetensors(folder / "model.safetensors", {source("a", {1, 2}), second});
    try {
      require_equal_tensors(folder.path(), read_hugging_face(folder.path()), "a", "b");
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(differ(source("b", {1, 2})), "");
  EXPECT_THAT(differ(source("b", {1, 3})), HasSubstr("ties b to a, but their values differ"));
  EXPECT_THAT(differ(source("b", {1})), HasSubstr("ties b to a, but f32[2] is not f32[1]"));
}

}  // namespace
}  // namespace tethys
