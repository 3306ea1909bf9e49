// Between Hugging Face folders and Tethys' runs and checkpoints. One tensor at a time is in memory.
//
//   export_hugging_face(checkpoint, config, "out", {.dtype = DType::BF16});
//   import_hugging_face("Llama-3.2-1B", config, "outputs/llama", std::nullopt);
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "checkpoint/store.h"

namespace tethys {

class Config;

// The weights of a folder under our names, for the model of the configuration; those whose names one of the globs
// matches need not be there or fit. UserError that shows the first differences of names and shapes.
Checkpoint open_hugging_face(const Path& folder, const Config& config, const std::vector<std::string>& excluded = {});

// What checkpoint.initial_load_path names: a checkpoint, or with checkpoint.initial_load_in_hf such a folder.
Checkpoint open_initial_weights(const Config& config);

struct ExportOptions {
  std::optional<DType> dtype = std::nullopt;  // of all weights; nothing: the widest of those that are stored
  int64_t max_shard_size = 5'000'000'000;
};

// Writes config.json, the weights and, if data.tokenizer names one, the tokenizer's files. UserError if the checkpoint
// is of another model, or the folder holds something. The folder appears as a whole. What the checkpoint holds besides,
// has no place there and is not zero, is given by name, with a star for the layer: the model there does without it.
std::vector<std::string> export_hugging_face(Checkpoint& checkpoint, const Config& config, const Path& output,
                                             const ExportOptions& options);

// Writes what a run leaves behind: config.toml, a checkpoint of step 0 with the weights alone, and the tokenizer's
// files. The configuration is made that of the folder first. `dtype` nothing: each weight stays as it is. As
// export_hugging_face.
void import_hugging_face(const Path& folder, Config& config, const Path& output, std::optional<DType> dtype);

}  // namespace tethys
