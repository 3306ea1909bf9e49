// Deferred mode: nodes queue up as they are recorded, and run as one fused program when somebody has to know: a value
// is read, a step ends, or the queue is full. The program computes what can still be asked for
// (runtime/run_observer.h); all else is internal to it. The same nodes on the same shapes are found as the program that
// they were before, so that a loop compiles in its first turn alone.
//
//   Graph graph;
//   DeferredObserver deferred(executor, graph, {.flushed = [](const Flush& f) { print(to_string(f)); }});
//   Value x = graph.input(type, "x");
//   deferred.bind_input(x, to_device(…));
//   Tensor y = tanh(Tensor(x)) * 2;   // nothing has run
//   deferred.read(y.value());         // one program
//
// A number that changes from turn to turn belongs into an input: as a splat it is a part of the program.
#pragma once

#include <functional>
#include <string>

#include "runtime/run_observer.h"

namespace tethys {

// What ran, and why.
struct Flush {
  std::string why;        // "the end of a step", "a read of tanh in layers.0.attention"
  int64_t ops = 0;        // of the program, before it is placed
  int64_t results = 0;    // that it gives
  int64_t bytes = 0;      // of these, over all devices as one
  bool compiled = false;  // or it was known
};
// "flush: 1,204 ops, 38 results of 1.2 MiB, compiled; because of the end of a step"
std::string to_string(const Flush& flush);

struct DeferredOptions {
  int64_t most_ops = 20000;  // that queue up
  std::function<void(const Flush&)> flushed = nullptr;
};

class DeferredObserver : public RunObserver {
 public:
  DeferredObserver(Executor& executor, Graph& graph, DeferredOptions options = {});

  const Array& array(const Value& value) override;
  void end_step(const std::vector<Value>& wanted) override;
  void appended(Graph& graph, NodeId node) override;
  void dropped(const Value& value) override;

 private:
  // Runs the queue for what of it can still be asked for, and for `value`.
  void flush(const std::string& why, std::optional<ValueId> value);
  void run(const std::string& why, const std::vector<ValueId>& outputs);
  void clear_queue();

  DeferredOptions options_;
  std::set<NodeId> queue_;
  std::vector<ValueId> freed_;  // when the queue has run, which may read them
};

}  // namespace tethys
