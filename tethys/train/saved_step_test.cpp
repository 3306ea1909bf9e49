#include "train/saved_step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/temporary_folder.h"

namespace tethys {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// What the executable is does not matter to the file: here with the bytes that a text would end at.
const std::string kExecutable("ELF\n\0\n{}\xff", 9);

StepIdentity identity() {
  StepIdentity identity;
  identity.recipe = "llama3_8b";
  identity.saved_by = "0.1.0, commit abc";
  identity.platform = "tpu";
  identity.plugin = "libtpu.so";
  identity.plugin_version = "pjrt 0.117";
  identity.topology = "v6e:4x4";
  identity.devices = "16 × TPU v6 lite, 4x4x1";
  identity.devices_key = "k";
  identity.program = "p";
  identity.options = {{"data.tokenizer", "\"a \\\"quoted\\\" \xffname\""}, {"training.seq_len", "128"}};
  return identity;
}

std::string complaint(const Path& path) {
  try {
    const SavedStep step(path);
  } catch (const UserError& error) {
    return error.what();
  }
  return "none";
}

TEST(SavedStep, GivesBackWhatWasSavedAndSaysWhatItIs) {
  const TemporaryFolder folder;
  save_step(folder / "8b.step", identity(), kExecutable);
  const SavedStep step(folder / "8b.step");
  EXPECT_EQ(step.executable(), kExecutable);
  StepIdentity expected = identity();
  expected.options["data.tokenizer"] = "\"a \\\"quoted\\\" \uFFFDname\"";  // JSON is UTF-8
  EXPECT_EQ(step.identity(), expected);
  EXPECT_EQ(step.describe(),
            (folder / "8b.step").string() + ", saved from llama3_8b for v6e:4x4 (16 × TPU v6 lite, 4x4x1)");
}

TEST(SavedStep, CutAnywhereIsRefused) {
  const TemporaryFolder folder;
  const Path whole = folder / "whole", cut = folder / "cut";
  save_step(whole, identity(), kExecutable);
  const std::string content = read_file(whole);
  for (size_t length = 0; length < content.size(); ++length) {
    write_file(cut, content.substr(0, length));
    EXPECT_THAT(complaint(cut), AllOf(HasSubstr(cut.string()), HasSubstr("tethys compile --save"))) << length;
  }
  write_file(cut, content + "x");
  EXPECT_THAT(complaint(cut), HasSubstr("is damaged or cut short"));
}

TEST(SavedStep, WithAnyByteChangedIsRefused) {
  const TemporaryFolder folder;
  const Path path = folder / "step";
  save_step(path, identity(), kExecutable);
  const std::string content = read_file(path);
  for (size_t at = 0; at < content.size(); ++at) {
    std::string changed = content;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    write_file(path, changed);
    EXPECT_THAT(complaint(path), HasSubstr("tethys compile --save")) << at;
  }
}

TEST(SavedStep, SaysWhatAFileIsInsteadOfOne) {
  const TemporaryFolder folder;
  const auto file = [&](const std::string& content) {
    write_file(folder / "file", content);
    return folder / "file";
  };
  const auto whole = [&](const std::string& body) {
    return file("tethys executable 1\n" + hash_hex(std::string_view(body)) + body);
  };
  EXPECT_THAT(complaint(folder / "none"), HasSubstr("No such file"));
  EXPECT_THAT(complaint(folder.path()), HasSubstr("it is not a file"));
  EXPECT_THAT(complaint(file("")), HasSubstr("is no saved executable"));
  EXPECT_THAT(complaint(file("[model]\nname = 1\n")), HasSubstr("is no saved executable"));
  EXPECT_THAT(complaint(file("tethys program 1\nabc")), HasSubstr("is no saved executable"));
  EXPECT_THAT(complaint(file("tethys executable 2\nabc")), HasSubstr("another version of tethys"));
  EXPECT_THAT(complaint(whole("")), HasSubstr("not valid JSON"));
  EXPECT_THAT(complaint(whole("{}\n")), HasSubstr("\"recipe\" is missing"));
  EXPECT_THAT(complaint(whole("[]\n")), HasSubstr("expected an object"));
}

TEST(SavedStep, LeavesWhatWasThereWhereItCannotBeWritten) {
  const TemporaryFolder folder;
  EXPECT_THROW(save_step(folder / "none/step", identity(), kExecutable), UserError);
  EXPECT_THROW(save_step(folder.path(), identity(), kExecutable), UserError);
}

}  // namespace
}  // namespace tethys
