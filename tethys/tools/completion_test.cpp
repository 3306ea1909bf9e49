// Completion, by the shell itself where there is one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "config/option_table.h"
#include "tools/testing.h"

namespace tethys {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;
using testing::StartsWith;
using testing::UnorderedElementsAre;
using Words = std::vector<std::string>;

Words lines_of(const std::string& text) {
  std::istringstream stream(text);
  Words lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// What bash offers for the last of the words, as it takes the line apart itself.
Words in_bash(const Words& words) {
  TemporaryFolder folder;
  write_file(folder / "ask.sh", R"(set -u
source <("$1" completion bash)
complete -p tethys > "$2.registered"
COMP_WORDS=("$1" "${@:3}")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_tethys
for reply in "${COMPREPLY[@]}"; do echo "$reply"; done > "$2"
)");
  const std::string output = (folder / "replies").string();
  std::string command = "bash --norc '" + (folder / "ask.sh").string() + "' '" TETHYS_PROGRAM "' '" + output + "'";
  for (const std::string& word : words) command += " '" + word + "'";
  EXPECT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(read_file(output + ".registered"), "complete -o default -F _tethys tethys\n");
  return lines_of(read_file(output));
}

TEST(Completion, OffersCommandsAndThoseOfAFamily) {
  EXPECT_THAT(in_bash({"tr"}), ElementsAre("train"));
  EXPECT_THAT(in_bash({"to"}), ElementsAre("tokenizer"));
  EXPECT_THAT(in_bash({"tokenizer", ""}), ElementsAre("train", "encode", "decode"));
  EXPECT_THAT(in_bash({""}), AllOf(Contains("train"), Contains("completion"), Contains("--help")));
  EXPECT_THAT(in_bash({"no_such", ""}), IsEmpty());
}

TEST(Completion, OffersEveryFlagOfTheTableAndOfTheCommand) {
  Words flags;
  for (const Option& option : option_table()) flags.push_back(flag_of(option));
  EXPECT_THAT(in_bash({"train", "llama3_8b", "--"}), IsSupersetOf(flags));
  EXPECT_THAT(in_bash({"train", "--par"}),
              AllOf(Contains("--parallelism.tensor_parallel_degree"), Each(StartsWith("--parallelism."))));
  EXPECT_THAT(in_bash({"train", "--res"}), ElementsAre("--resume"));
  EXPECT_THAT(in_bash({"train", "--no-res"}), ElementsAre("--no-resume"));
  EXPECT_THAT(in_bash({"doctor", "--pl"}), ElementsAre("--plugin"));
  EXPECT_THAT(in_bash({"doctor", "--training"}), IsEmpty());
}

TEST(Completion, OffersTheRecipesThatThereAre) {
  Words recipes;
  for (const auto& entry : std::filesystem::directory_iterator(TETHYS_SOURCE_DIR "/recipes")) {
    const std::string name = entry.path().stem().string();
    if (name.starts_with("llama3_")) recipes.push_back(name);
  }
  EXPECT_THAT(recipes, Contains("llama3_8b"));
  EXPECT_THAT(in_bash({"train", "llama3_"}), testing::UnorderedElementsAreArray(recipes));
  EXPECT_THAT(in_bash({"config", "--training.steps", "5", "llama3_3"}), ElementsAre("llama3_3b"));
  for (const std::string command : {"convert", "eval", "generate"}) {
    EXPECT_THAT(in_bash({command, "run", "--recipe", "llama3_3"}), ElementsAre("llama3_3b")) << command;
  }
  EXPECT_THAT(in_bash({"train", "llama3_8b", "llama3_"}), IsEmpty());
}

TEST(Completion, OffersTheChoicesOfAFlagHoweverItIsWritten) {
  EXPECT_THAT(in_bash({"train", "llama3_8b", "--graph.mode", ""}),
              UnorderedElementsAre("eager", "deferred", "compile", "graph"));
  EXPECT_THAT(in_bash({"train", "--mode", "gr"}), ElementsAre("graph"));
  EXPECT_THAT(in_bash({"train", "--mode", "=", "gr"}), ElementsAre("graph"));  // as bash parts --mode=gr
  EXPECT_THAT(in_bash({"train", "--device.platform", "="}), UnorderedElementsAre("cpu", "tpu", "cuda"));
  EXPECT_THAT(in_bash({"train", "--checkpoint.enable", "=", "f"}), ElementsAre("false"));
  EXPECT_THAT(in_bash({"completion", ""}), ElementsAre("bash", "zsh", "fish"));
}

// Nothing, so that the shell offers files.
TEST(Completion, LeavesPathsToTheShell) {
  EXPECT_THAT(in_bash({"train", "--data.text", "llama3_"}), IsEmpty());
  EXPECT_THAT(in_bash({"eval", "out"}), IsEmpty());
}

TEST(Completion, GivesOtherShellsTheWholeWordWithItsMeaning) {
  const auto ask = [](const Words& words) {
    return lines_of(run_tethys(Words{"completion", "candidates", "--"} + words).output);
  };
  EXPECT_THAT(ask({"train", "--mode=gr"}), ElementsAre("--mode=graph\t"));
  EXPECT_THAT(ask({"train", "--resu"}), ElementsAre("--resume\tgo on from the newest checkpoint of the output folder"));
  EXPECT_THAT(ask({"train", "--", "--res"}), IsEmpty());
  EXPECT_THAT(ask({"tok"}), ElementsAre("tokenizer\ttrain, encode, decode"));
}

TEST(Completion, RefusesAShellThatItDoesNotKnow) {
  const Ended ended = run_tethys({"completion", "csh"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.output, testing::HasSubstr("there is no completion for 'csh'; expected bash, zsh or fish"));
  EXPECT_EQ(run_tethys({"completion", "zsh"}).status, 0);
}

}  // namespace
}  // namespace tethys
