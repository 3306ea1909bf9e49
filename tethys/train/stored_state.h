// Between the arrays of a store and checkpoints: a checkpoint knows logical parameters by name, without stacking and
// padding, so that a run may go on with other layers stacked, on another mesh.
//
//   append_pieces(pieces, "", store, parameters);            // "layers.0.attention.wq.weight"
//   append_pieces(pieces, "optimizer.m.", store, moments);   // "optimizer.m.layers.0.attention.wq.weight"
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "checkpoint/store.h"
#include "nn/parameter_store.h"
#include "runtime/array.h"
#include "train/copy_memory.h"

namespace tethys {

// What this process saves of `arrays`, one for each of the store; their dtype is saved. The pieces read the arrays when
// they are written, and so long the arrays must not be consumed; or, with `copies`, all is copied there before this
// returns, and a step may consume the arrays.
void append_pieces(std::vector<PieceSource>& pieces, const std::string& prefix,
                   const std::vector<StoredParameter>& store, const std::vector<Array>& arrays,
                   CopyMemory* copies = nullptr);

// The same tensors in another floating-point dtype.
std::vector<PieceSource> pieces_in(DType dtype, std::vector<PieceSource> pieces);

// The types of the logical tensors, as a checkpoint has them.
void append_types(std::map<std::string, TensorType>& types, const std::string& prefix,
                  const std::vector<StoredParameter>& store, DType dtype);

// What a load may do besides taking each tensor as it is.
struct LoadOptions {
  bool convert = false;  // take another floating-point dtype too
  // Of these names the values stay those of `kept`, one array for each of the store; empty: all are loaded.
  std::function<bool(const std::string& name)> excluded = {};
  std::vector<Array> kept = {};
};

// Whether the parameter's value is not in the checkpoint and need not be.
bool is_left_open(const Checkpoint& checkpoint, const StoredParameter& stored, const std::string& name,
                  const LoadOptions& options);

// The arrays of the store, read from a checkpoint; padding is zero. UserError if a tensor is not there, or its shape or
// dtype is another.
std::vector<Array> load_arrays(Checkpoint& checkpoint, const std::string& prefix,
                               const std::vector<StoredParameter>& store, DType dtype,
                               const std::shared_ptr<const DeviceMesh>& devices, ArrayKind kind,
                               const LoadOptions& options = {});

}  // namespace tethys
