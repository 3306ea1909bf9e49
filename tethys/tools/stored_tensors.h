// The tensors that lie in files: what a checkpoint or a safetensors file holds, by the headers alone.
#pragma once

#include <iosfwd>
#include <string>

#include "base/file.h"

namespace tethys {

// Whether a path means stored tensors: a safetensors file, a folder with some, a checkpoint, or what holds checkpoints.
bool is_stored(const Path& path);

// Name, dtype, shape and size of each, and the sums. UserError if a file or manifest cannot be believed.
void print_stored(std::ostream& out, const Path& path);

}  // namespace tethys
