// stages: a per-device graph as several programs that the host runs one after another. A loop that others are to see
// into, slice by slice, becomes a program that is run once an iteration: so what the forward's loop over layers leaves
// for the backward's can wait in the host's memory, and be on the device for two layers at most.
//
//   const Streams streams = find_streams(*first.local, first_outputs, *second.local, second_inputs);
//   const Stages forward = stages_of(first, mesh, capabilities, {.outputs = streams.outputs});
//   const Stages backward = stages_of(second, mesh, capabilities, {.inputs = streams.inputs});
//
// A stream is a stack of slices that never exists whole: one of the ys of a loop in one graph, marked to wait in the
// host's memory (ops/control/to_memory.h), and one of the xs of a loop in another.
#pragma once

#include <variant>
#include <vector>

#include "transforms/lower.h"

namespace tethys {

// Number k of one graph's outputs is number k of the other's inputs.
struct Streams {
  std::vector<size_t> outputs, inputs;
};

// Which of `outputs`, positions in the first graph's list, can be streamed to those of `inputs`, in the second's, that
// stand in the same place.
Streams find_streams(const Graph& first, const std::vector<size_t>& outputs, const Graph& second,
                     const std::vector<size_t>& inputs);

// A program that is run once. What it takes and gives are values of the per-device graph.
struct Straight {
  Program program;
  std::vector<ValueId> takes, gives;
};

// A program that is run once an iteration:
//   (index, carries…, stacks…, what all iterations read…, slices…) → (carries…, stacks…, slices…)
// where the stacks are the loop's ys so far. Carries and stacks are donated.
struct Loop {
  Straight begin;  // gives the first carries, and stacks of zeros
  Program body;
  int64_t length = 0;
  bool reverse = false;
  std::vector<ValueId> reads;
  std::vector<size_t> streams_in, streams_out;  // which of the graph's streams the slices are of

  // The values of the graph that the last carries and the stacks are.
  const std::vector<ValueId>& results() const { return begin.gives; }
};

using Stage = std::variant<Straight, Loop>;

struct Stages {
  std::vector<Stage> list;
  std::vector<ValueId> inputs, outputs;    // those that are no streams
  std::vector<Port> output_ports;          // of `outputs`
  std::vector<std::string> notes;          // those of the graph
  std::vector<std::vector<ValueId>> last;  // per stage: what nobody needs after it
  size_t streams_in = 0, streams_out = 0;
};

// Without streams, one stage. Aliases as in make_program are none.
Stages stages_of(const Localised& graphs, const Mesh& mesh, const Capabilities& capabilities,
                 const Streams& streams = {});

}  // namespace tethys
