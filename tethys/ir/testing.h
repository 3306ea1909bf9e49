// Ops for the tests of ir/, which sees none of ops/.
#pragma once

#include "ir/graph.h"

namespace tethys::ir_testing {

// All operands have one type and so has the result.
inline std::vector<TensorType> infer_same(const OpCall& call) {
  for (const TensorType& type : call.operands) {
    require(type == call.operands.at(0), "operands differ: {} and {}", to_string(call.operands[0]), to_string(type));
  }
  return {call.operands.at(0)};
}

struct Times {
  int64_t factor;
  bool operator==(const Times&) const = default;
};
inline std::string describe(const Times& a) { return fmt::format("factor {}", a.factor); }

inline const OpRecord sum_op = {.name = "sum", .infer = infer_same};
inline const OpRecord times_op = {.name = "times", .infer = infer_same};
// Takes its result types from the caller.
inline const OpRecord source_op = {.name = "source", .infer = [](const OpCall& call) { return call.declared; }};
// Its region's outputs are its results.
inline const OpRecord call_op = {.name = "call", .infer = [](const OpCall& call) {
                                   std::vector<TensorType> types;
                                   const Graph& region = *call.regions.at(0);
                                   for (ValueId v : region.outputs()) types.push_back(region.type(v));
                                   return types;
                                 }};

// The message of the bug, "no error" if there is none.
template <typename Action>
std::string bug(const Action& action) {
  try {
    action();
  } catch (const InternalError& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace tethys::ir_testing
