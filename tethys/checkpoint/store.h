// CheckpointStore: the folder of a run's checkpoints. A checkpoint is a folder `step-00000020` with manifest.json and
// one safetensors file per process. It is built as `.step-00000020.partial` and takes its name when all of it is on
// the disk: a folder with the name is complete, whatever was killed and when. Nothing else in the folder counts.
//
// Saving, by one process:      store.save(state, pieces, keep_latest_k);
// by many, all on one disk:    store.write_part(state, pieces);  → all wait for all →  process 0: store.complete(…)
// Loading:                     Checkpoint c(store.path_of(*store.newest())); c.read("norm.weight", window, bytes);
//
// One save at a time; the caller holds a FolderLock on the run's output folder. The functions may run on any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/file.h"
#include "checkpoint/manifest.h"
#include "checkpoint/safetensors.h"
#include "checkpoint/window.h"
#include "values/host_tensor.h"

namespace tethys {

// A part of a logical tensor that this process saves, see owned_windows.
struct PieceSource {
  std::string name;
  TensorType type;  // of the whole, global tensor
  Window window;
  // Fills the window's bytes, row-major; called once, unless there are none. Or, where they lie in memory, `view`.
  std::function<void(std::span<std::byte>)> read;
  std::function<std::span<const std::byte>()> view = {};
};

class CheckpointStore {
 public:
  // `folder` is made at the first save.
  explicit CheckpointStore(Path folder, int64_t process_index = 0, int64_t process_count = 1);

  // Of the complete checkpoints, ascending.
  std::vector<int64_t> steps() const;
  std::optional<int64_t> newest() const;
  Path path_of(int64_t step) const;
  // A folder with a checkpoint's name and no manifest: it was complete once. The newest, if there are several.
  std::optional<Path> damaged() const;

  // write_part and complete, for one process.
  void save(const TrainState& state, const std::vector<PieceSource>& pieces, int64_t keep_latest_k) const;

  // Writes this process's file. UserError if the step is saved already.
  void write_part(const TrainState& state, const std::vector<PieceSource>& pieces) const;

  // When all processes have written their parts, and by process 0 only: joins them, gives the checkpoint its name, then
  // removes what is older than the newest `keep_latest_k` (0 keeps all) and what killed saves left behind.
  void complete(int64_t step, int64_t keep_latest_k) const;

  // What killed saves and removals left; complete() does it too. Not during a save.
  void remove_leftovers() const;

 private:
  std::map<int64_t, bool> found() const;  // by step, whether it is complete
  Path partial_path(int64_t step) const;
  void prune(int64_t keep_latest_k) const;

  Path folder_;
  int64_t process_index_;
  int64_t process_count_;
};

// A complete checkpoint, open for reading. Opening checks the manifest and each file's presence and size, and maps the
// files, which can then be read even if the checkpoint is removed; a file's hash is checked when it is first read from,
// so that a process reads only the files that it needs. All errors are UserErrors that name the file. One thread at a
// time.
class Checkpoint {
 public:
  explicit Checkpoint(Path path);
  // Tensors in files that others wrote, see hugging_face.h, where each piece has a name of its own; one that is a
  // single index of the first dimension may lie there without that dimension. No hash of the files is known, so they
  // are taken as they are.
  Checkpoint(Path path, Manifest manifest);

  const Manifest& manifest() const { return manifest_; }
  const Path& path() const { return path_; }

  // Checks one file, or every one: its hash, and that it holds exactly the pieces that the manifest says.
  void verify(const std::string& file);
  void verify();

  // The window of a tensor, whatever the pieces it was saved in.
  void read(const std::string& name, const Window& window, std::span<std::byte> out);
  HostTensor read(const std::string& name, const Window& window);
  HostTensor read(const std::string& name);

 private:
  const SafetensorsFile& checked_file(const std::string& name);
  const SafetensorsEntry& checked_entry(const std::string& tensor, const TensorType& type, const ManifestPiece& piece);

  Path path_;
  Manifest manifest_;
  bool foreign_ = false;
  std::map<std::string, MappedFile> mapped_;  // not read from yet
  std::map<std::string, SafetensorsFile> open_;
};

// The checkpoint that a user means: `path` is one, or a folder of checkpoints, or a run's output folder; of several the
// newest. UserError if there is none.
Path find_checkpoint(const Path& path);

// Opens what `find` gives; again if that fails, for a run that goes on may have removed it meanwhile, and has a newer
// one. UserError if it fails time and again.
Checkpoint open_newest(const std::function<Path()>& find);

}  // namespace tethys
