// The cotangents found so far, by value. Those of one value add up, in the wider of their dtypes.
#pragma once

#include <optional>
#include <span>
#include <unordered_map>

#include "ir/graph.h"
#include "transforms/grad.h"

namespace tethys {

class CotangentMap {
 public:
  void add(const Value& value, const Value& cotangent);
  std::optional<Value> find(const Value& value) const;

 private:
  std::unordered_map<ValueId, Value> cotangents_;
};

// The reverse loop itself: appends the backward of everything between `wrt` and `outputs`, whose cotangents are
// `seeds`.
CotangentMap backward(Graph& graph, std::span<const Value> wrt, std::span<const Value> outputs,
                      std::span<const std::optional<Value>> seeds, const RematPolicy& policy);

}  // namespace tethys
