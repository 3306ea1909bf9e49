// StagedProgram: runs the stages of a graph (transforms/stages.h) one after another, loops an iteration at a time. The
// slices of a stream go to the host's memory as they are made, and come back one iteration before they are read.
//
//   StagedProgram forward(stages_of(…));
//   forward.compile(executor, "forward");
//   StagedProgram::Results results = forward.run(executor, arguments, {});   // outputs, and slices on the host
//
// Used by one thread at a time.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/executor.h"
#include "transforms/stages.h"

namespace tethys {

// One slice an iteration, in the host's memory.
using Stream = std::vector<Array>;

class StagedProgram {
 public:
  StagedProgram() = default;
  explicit StagedProgram(Stages stages) : stages_(std::move(stages)) {}

  // `name` is that of its programs, for people. PjrtError if the compiler refuses one of them.
  void compile(Executor& executor, const std::string& name);

  struct Results {
    std::vector<Array> outputs;  // that are no streams
    std::vector<Stream> streams;
  };
  // `arguments`: the inputs that are no streams, in order. Consumes nothing but the streams.
  Results run(Executor& executor, std::vector<Array> arguments, std::vector<Stream> streams = {}) const;

  std::vector<const Program*> programs() const;
  // Once compiled.
  std::vector<std::shared_ptr<const CompiledProgram>> compiled() const;
  const Stages& stages() const { return stages_; }

 private:
  struct Compiled {
    std::shared_ptr<const CompiledProgram> straight;  // or a loop's beginning
    std::shared_ptr<const CompiledProgram> body;
  };
  using Values = std::map<ValueId, Array>;
  void run_loop(Executor& executor, const Loop& loop, const Compiled& compiled, Values& values, Results& results,
                std::vector<Stream>& streams) const;

  Stages stages_;
  std::vector<Compiled> compiled_;
};

}  // namespace tethys
