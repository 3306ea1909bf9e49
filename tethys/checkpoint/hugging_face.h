// The weights in a Hugging Face folder: model.safetensors, or shards that model.safetensors.index.json lists.
//
//   Manifest manifest = read_hugging_face("Llama-3.2-1B");       // tensors by their names there
//   write_hugging_face("out", sources, 5'000'000'000);
//
// Nothing in a folder is believed: each name of a file is a plain one, each tensor lies in exactly the file that the
// index says, and each file is checked as a safetensors file is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.h"
#include "checkpoint/manifest.h"
#include "checkpoint/safetensors.h"

namespace tethys {

// What lies where, under the names that the folder gives; files without a hash. UserError.
Manifest read_hugging_face(const Path& folder);

// Tensors of one shape, in order, as one with a dimension in front, for a Checkpoint. UserError unless they have one
// dtype.
ManifestTensor stacked(const Path& folder, const Manifest& manifest, const std::vector<std::string>& names);

// UserError unless both tensors have the same type and bytes.
void require_equal_tensors(const Path& folder, const Manifest& manifest, const std::string& a, const std::string& b);

// One file, or shards of at most `max_shard_size` bytes of tensors with their index; a tensor that is larger is alone
// in one. The tensors fill the shards in the order given, one at a time in memory.
void write_hugging_face(const Path& folder, const std::vector<SafetensorsSource>& tensors, int64_t max_shard_size);

}  // namespace tethys
