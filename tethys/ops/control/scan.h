// scan: the differentiable loop. Its region is one iteration,
//
//   (consts…, carries…, slices of xs…) → (carries…, slices of ys…)
//
// and the op is (consts…, carries…, xs…) → (carries…, ys…), where xs and ys have one more, leading dimension of
// `length`. A reversed scan runs from the last slice to the first and writes its ys in the same order as its xs.
#pragma once

#include <functional>

#include "ir/graph.h"

namespace tethys {

struct ScanAttributes {
  int64_t length = 0;
  int64_t consts = 0;
  int64_t carries = 0;
  bool reverse = false;
  bool operator==(const ScanAttributes&) const = default;
};
std::string describe(const ScanAttributes& attributes);
const ScanAttributes& scan_attributes(const Attributes& attributes);

struct ScanOperands {
  std::vector<Value> consts;
  std::vector<Value> carries;
  std::vector<Value> xs;
};

struct ScanResults {
  std::vector<Value> carries;
  std::vector<Value> ys;
};

// What an iteration gets (values of the region) and what it returns.
using ScanBody = std::function<ScanResults(Graph& region, const ScanOperands& in)>;

ScanResults scan(Graph& graph, int64_t length, const ScanOperands& operands, const ScanBody& body,
                 bool reverse = false);

// The same with a region that exists already.
ScanResults scan(Graph& graph, ScanAttributes attributes, const ScanOperands& operands, std::shared_ptr<Graph> region);

// The type of one slice of an x or y.
TensorType slice_type(const TensorType& stacked);

// Slice number `index`, an s32 scalar, of stacked ones.
Value slice_at(Value stacked, Value index);

}  // namespace tethys
