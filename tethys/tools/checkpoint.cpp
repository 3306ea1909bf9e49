// tethys checkpoint verify | list: are the checkpoints of a run whole, and which are there?
#include <fmt/format.h>
#include <fmt/ostream.h>

#include "base/error.h"
#include "base/number.h"
#include "checkpoint/store.h"
#include "tools/commands.h"
#include "train/run_folder.h"

namespace tethys {
namespace {

std::vector<Option> no_options() { return {}; }

// One that is found by its newest name only must not be passed over because it has lost its manifest.
void require_none_damaged(const Path& path) {
  if (const std::optional<Path> damaged = CheckpointStore(checkpoints_of(path)).damaged()) {
    user_error("{}: it is missing; the checkpoint is damaged", (*damaged / "manifest.json").string());
  }
}

int verify(Invocation& invocation) {
  const Path path = single_argument(invocation, kCheckpointVerifyCommand, "the checkpoint");
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) require_none_damaged(path);
  Checkpoint checkpoint = open_checkpoint_of(path);
  const Manifest& manifest = checkpoint.manifest();
  std::ostream& out = invocation.surroundings.out;
  fmt::print(out, "{}: step {}, {} tensors\n", checkpoint.path().string(), manifest.state.step,
             with_commas(static_cast<int64_t>(manifest.tensors.size())));
  fmt::print(out, "  {:<28} {:>18} {:<32}\n", "file", "bytes", "hash");
  for (const auto& [name, file] : manifest.files) {
    checkpoint.verify(name);
    fmt::print(out, "  {:<28} {:>18} {:<32} ok\n", name, with_commas(static_cast<int64_t>(file.size)), file.hash);
    out.flush();
  }
  fmt::print(out, "whole: every file is there with its size and hash, and the pieces are all of each tensor\n");
  return 0;
}

// One line of the list; what is wrong with it in the place of the figures.
std::string description_of(const Path& path) {
  try {
    const Checkpoint checkpoint(path);
    const Manifest& manifest = checkpoint.manifest();
    uint64_t bytes = 0;
    for (const auto& [name, file] : manifest.files) bytes += file.size;
    return fmt::format("{:>10} {:>8} {:>18}  {}", manifest.state.step, manifest.tensors.size(),
                       with_commas(static_cast<int64_t>(bytes)), path.string());
  } catch (const Error& error) {
    return fmt::format("   damaged: {}", error.what());
  }
}

int list(Invocation& invocation) {
  const Path folder = checkpoints_of(single_argument(invocation, kCheckpointListCommand, "the run"));
  const CheckpointStore store(folder);
  const std::vector<int64_t> steps = store.steps();
  const std::optional<Path> damaged = store.damaged();
  if (steps.empty() && !damaged) user_error("{} holds no checkpoint", folder.string());
  std::ostream& out = invocation.surroundings.out;
  fmt::print(out, "{:>10} {:>8} {:>18}  folder\n", "step", "tensors", "bytes");
  for (const int64_t step : steps) fmt::print(out, "{}\n", description_of(store.path_of(step)));
  if (damaged) fmt::print(out, "{}\n", description_of(*damaged));
  return 0;
}

}  // namespace

const Command kCheckpointVerifyCommand{
    "checkpoint verify",
    "PATH",
    "check every byte of a checkpoint",
    "  tethys checkpoint verify outputs/llama3_debugmodel                             the newest of a run\n"
    "  tethys checkpoint verify outputs/llama3_debugmodel/checkpoint/step-00000100    this one\n\n"
    "Checks the manifest, that its pieces are all of each tensor, and size and hash of every file. Exit status 2, and\n"
    "the name of the first file that is not as it was written.\n",
    no_options,
    verify,
};

const Command kCheckpointListCommand{
    "checkpoint list",
    "RUN",
    "list the checkpoints of a run",
    "  tethys checkpoint list outputs/llama3_debugmodel\n\n"
    "Manifests and sizes are looked at, hashes are not: that is `tethys checkpoint verify`.\n",
    no_options,
    list,
};

}  // namespace tethys
