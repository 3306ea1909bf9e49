#include "checkpoint/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/error.h"
#include "base/hash.h"

namespace tethys {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Manifest example() {
  Manifest m;
  m.state = {20, "abc", ~uint64_t{0}, 1280};
  m.files["process-00000.safetensors"] = {100, "00ff"};
  m.files["process-00001.safetensors"] = {90, "11ee"};
  m.tensors["w"] = {{DType::F32, {4, 2}},
                    {{"process-00000.safetensors", {{0, 0}, {2, 2}}}, {"process-00001.safetensors", {{2, 0}, {2, 2}}}}};
  m.tensors["step"] = {{DType::S32, {}}, {{"process-00000.safetensors", {{}, {}}}}};
  return m;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const UserError& e) {
    return e.what();
  }
  return "no UserError";
}

std::string parse_error(const std::string& text) {
  return error_of([&] { parse_manifest(text, "M"); });
}

TEST(Manifest, HasThisText) {
  const std::string body =
      R"("state":{"step":20,"fingerprint":"abc","seed":18446744073709551615,"data_position":1280},
"files":{
"process-00000.safetensors":{"size":100,"hash":"00ff"},
"process-00001.safetensors":{"size":90,"hash":"11ee"}
},
"tensors":{
"step":{"dtype":"s32","shape":[],"pieces":[{"file":"process-00000.safetensors","offset":[],"extent":[]}]},
"w":{"dtype":"f32","shape":[4,2],"pieces":[{"file":"process-00000.safetensors","offset":[0,0],"extent":[2,2]},)"
      R"({"file":"process-00001.safetensors","offset":[2,0],"extent":[2,2]}]}
}}
)";
  EXPECT_EQ(to_json(example()), "{\"version\":1,\"hash\":\"" + hash_hex(body) + "\",\n" + body);
  EXPECT_EQ(hash_of(example()), hash_hex(body));
}

TEST(Manifest, ParsesBack) {
  EXPECT_EQ(parse_manifest(to_json(example()), "M"), example());
  EXPECT_EQ(parse_manifest(to_json(Manifest()), "M"), Manifest());
}

TEST(Manifest, PiecesAreNamedByTheirWindow) {
  EXPECT_EQ(piece_name("w", {DType::F32, {4, 2}}, whole({4, 2})), "w");
  EXPECT_EQ(piece_name("w", {DType::F32, {4, 2}}, {{2, 0}, {2, 2}}), "w[2:4,0:2]");
  EXPECT_EQ(piece_name("s", {DType::F32, {}}, {{}, {}}), "s");
}

TEST(Manifest, AnyChangedCharacterIsFound) {
  const std::string text = to_json(example());
  for (size_t i = 0; i < text.size(); ++i) {
    std::string damaged = text;
    damaged[i] ^= 1;
    EXPECT_THAT(parse_error(damaged), testing::StartsWith("M: ")) << i << ": " << text[i] << " to " << damaged[i];
  }
  for (size_t n = 0; n + 1 < text.size(); ++n) EXPECT_NE(parse_error(text.substr(0, n)), "no UserError") << n;
}

TEST(Manifest, RefusesWhatCannotBe) {
  const std::string text = to_json(example());
  EXPECT_THAT(parse_error(replaced(text, "\"version\":1", "\"version\":2")), HasSubstr("version 2"));
  EXPECT_THAT(parse_error(replaced(text, "\"step\":20", "\"step\":21")), HasSubstr("does not fit its hash"));
  EXPECT_THAT(parse_error(replaced(text, "\"step\":20", "\"step\":-1")), HasSubstr("\"step\""));
  EXPECT_THAT(parse_error(replaced(text, "\"seed\"", "\"sead\"")), HasSubstr("\"seed\" is missing"));
  EXPECT_THAT(parse_error(replaced(text, "\"f32\"", "\"f99\"")), AllOf(HasSubstr("\"w\""), HasSubstr("f99")));
  EXPECT_THAT(parse_error(replaced(text, "[4,2]", "[4,9223372036854775807]")), HasSubstr("overflows"));
  EXPECT_THAT(parse_error(replaced(text, "\"offset\":[2,0]", "\"offset\":[3,0]")), HasSubstr("does not lie in"));
  EXPECT_THAT(parse_error(replaced(text, "\"offset\":[2,0]", "\"offset\":[9223372036854775807,0]")),
              HasSubstr("does not lie in"));
  EXPECT_THAT(parse_error(replaced(text, "\"offset\":[2,0]", "\"offset\":[2]")), HasSubstr("does not lie in"));
  EXPECT_THAT(parse_error(replaced(text, "\"process-00001.safetensors\":{", "\"../x\":{")), HasSubstr("plain file"));
  EXPECT_THAT(parse_error(replaced(text, "\"process-00001.safetensors\":{", "\"x\":{")), HasSubstr("is not listed"));
  EXPECT_THAT(parse_error(replaced(text, "\"pieces\":[", "\"pieces\":7,\"x\":[")), HasSubstr("\"pieces\""));
  EXPECT_THAT(parse_error("[]"), HasSubstr("expected an object"));
}

TEST(Manifest, OverlapsAndHolesAreFound) {
  EXPECT_EQ(tiling_fault(example()), std::nullopt);
  Manifest hole = example();
  hole.tensors["w"].pieces.pop_back();
  EXPECT_THAT(tiling_fault(hole).value(), HasSubstr("\"w\" hold 4 of its 8 elements"));
  Manifest overlap = example();
  overlap.tensors["w"].pieces[1].window.offset = {1, 0};
  EXPECT_THAT(tiling_fault(overlap).value(), HasSubstr("pieces [0:2,0:2] and [1:3,0:2] of tensor \"w\" overlap"));
  Manifest twice = example();
  twice.tensors["step"].pieces.push_back(twice.tensors["step"].pieces[0]);
  EXPECT_THAT(tiling_fault(twice).value(), HasSubstr("\"step\" overlap"));
  // Neighbours in the order of offsets that do not overlap hide one that does.
  Manifest hidden = example();
  hidden.tensors["w"].pieces = {{"f", {{0, 0}, {4, 1}}}, {"f", {{0, 1}, {2, 1}}}, {"f", {{2, 0}, {2, 1}}}};
  EXPECT_THAT(tiling_fault(hidden).value(), HasSubstr("[0:4,0:1] and [2:4,0:1]"));
}

TEST(Manifest, MergesThePartsOfProcesses) {
  Manifest whole = example(), a = example(), b = example();
  a.files.erase("process-00001.safetensors");
  a.tensors["w"].pieces.pop_back();
  b.files.erase("process-00000.safetensors");
  b.tensors["w"].pieces.erase(b.tensors["w"].pieces.begin());
  b.tensors.erase("step");
  EXPECT_EQ(merge({a, b}), whole);
  EXPECT_EQ(merge({b, a}), whole);
  EXPECT_THROW(merge({a, a}), InternalError);
  b.state.step = 21;
  EXPECT_THROW(merge({a, b}), InternalError);
}

TEST(Manifest, ShowsTheFirstTensorsThatDiffer) {
  std::map<std::string, TensorType> expected = {{"w", {DType::F32, {4, 2}}}, {"step", {DType::S32, {}}}};
  EXPECT_NO_THROW(require_tensors(example(), expected, "C"));
  expected["w"] = {DType::BF16, {4, 2}};
  expected["missing"] = {DType::F32, {1}};
  expected.erase("step");
  EXPECT_THAT(
      error_of([&] { require_tensors(example(), expected, "C"); }),
      AllOf(HasSubstr("3 of its tensors differ"), HasSubstr("w: expected bf16[4,2], the checkpoint has f32[4,2]"),
            HasSubstr("missing: expected f32[1], the checkpoint has no such tensor"),
            HasSubstr("step: expected no such tensor, the checkpoint has s32[]"), Not(HasSubstr("more"))));
  for (int i = 0; i < 10; ++i) expected["x" + std::to_string(i)] = {DType::F32, {1}};
  EXPECT_THAT(error_of([&] { require_tensors(example(), expected, "C"); }),
              AllOf(HasSubstr("13 of its tensors differ"), HasSubstr("and 8 more")));
}

}  // namespace
}  // namespace tethys
