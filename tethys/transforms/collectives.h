// What a program of one device sends to others: its collectives, those in loops as often as the loops run.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"
#include "values/mesh.h"

namespace tethys {

struct CollectiveUse {
  std::string kind;   // "all_gather"
  std::string axes;   // of the mesh, "dp_shard" or "dp_shard, cp"
  std::string scope;  // the module that it works for, layers as "*": "layers.*.attention.wq"
  TensorType type;    // what one device has of it: of a gather the whole, of the others what goes in
  int64_t sites = 0;  // how often it stands in the program
  int64_t runs = 0;   // how often it runs

  int64_t bytes() const { return runs * type.bytes(); }
};

// Collectives that are alike in all but the counts are one, in the order of the program.
std::vector<CollectiveUse> collectives_of(const Graph& local, const Mesh& mesh);

}  // namespace tethys
