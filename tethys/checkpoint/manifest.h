// Manifest: what a checkpoint holds, as manifest.json beside its files. Per logical name the global type and the pieces
// that tile it; each file's size and hash; where the training stood. No time and no path is in it and its order is
// fixed, so the same training gives the same text, and its hash stands for the whole checkpoint.
//
// A process writes a manifest of its own pieces; merge() joins them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/safetensors.h"
#include "checkpoint/window.h"
#include "values/shape.h"

namespace tethys {

struct ManifestPiece {
  std::string file;
  Window window;
  std::string name = "";  // in a file that others wrote (hugging_face.h); ours have piece_name()
  bool operator==(const ManifestPiece&) const = default;
};

struct ManifestTensor {
  TensorType type;
  std::vector<ManifestPiece> pieces;  // in the order of their offsets
  bool operator==(const ManifestTensor&) const = default;
};

// Where the training stood. A resumed run continues from here; whether its configuration fits, the caller judges by
// the fingerprint.
struct TrainState {
  int64_t step = 0;
  std::string fingerprint;
  uint64_t seed = 0;
  int64_t data_position = 0;  // rows that all processes have taken since the start; epoch and row follow from it
  bool operator==(const TrainState&) const = default;
};

struct Manifest {
  TrainState state;
  std::map<std::string, WrittenFile> files;
  std::map<std::string, ManifestTensor> tensors;
  bool operator==(const Manifest&) const = default;
};

// The name of a piece inside its file: the logical name of a whole tensor, so that other programs find it, else the
// name and the window: "layers.0.wq[0:4,0:8]".
std::string piece_name(const std::string& tensor, const TensorType& type, const Window& window);

// Of all that the manifest says, files' hashes included.
std::string hash_of(const Manifest& manifest);

std::string to_json(const Manifest& manifest);

// The inverse. UserErrors begin with `where`: text that is no manifest, a piece outside of its tensor or in a file that
// is not listed, a file name that is not a plain one, a content that its hash does not fit.
Manifest parse_manifest(std::string_view text, const std::string& where);

// What is wrong, unless the pieces of every tensor cover each of its elements exactly once.
std::optional<std::string> tiling_fault(const Manifest& manifest);

// The whole from the parts of all processes. InternalError where they disagree on the state or a tensor's type.
Manifest merge(const std::vector<Manifest>& parts);

// UserError that shows the first differences unless the checkpoint holds exactly the expected tensors, by name, shape
// and dtype.
void require_tensors(const Manifest& manifest, const std::map<std::string, TensorType>& expected,
                     const std::string& where);

}  // namespace tethys
