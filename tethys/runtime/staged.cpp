#include "runtime/staged.h"

namespace tethys {
namespace {

std::vector<Array> arrays_of(const std::map<ValueId, Array>& values, const std::vector<ValueId>& ids) {
  std::vector<Array> arrays;
  for (ValueId id : ids) arrays.push_back(values.at(id));
  return arrays;
}

void store(std::map<ValueId, Array>& values, const std::vector<ValueId>& ids, const std::vector<Array>& arrays) {
  for (size_t i = 0; i < ids.size(); ++i) values[ids[i]] = arrays[i];
}

// The slices that iteration `at` reads, on their way to the device; the host's memory is free for others.
std::vector<Array> fetch(const Loop& loop, std::vector<Stream>& streams, int64_t at) {
  std::vector<Array> slices;
  for (size_t stream : loop.streams_in) {
    Array waiting = std::move(streams.at(stream).at(static_cast<size_t>(at)));
    slices.push_back(copy_to(waiting, pjrt::MemoryKind::Default));
    slices.back().set_kind(ArrayKind::Residual);
  }
  return slices;
}

}  // namespace

void StagedProgram::compile(Executor& executor, const std::string& name) {
  compiled_.clear();
  for (const Stage& stage : stages_.list) {
    if (const auto* straight = std::get_if<Straight>(&stage)) {
      compiled_.push_back({executor.compile(straight->program, name), nullptr});
      continue;
    }
    const Loop& loop = std::get<Loop>(stage);
    compiled_.push_back(
        {executor.compile(loop.begin.program, name + " begin"), executor.compile(loop.body, name + " iteration")});
  }
}

void StagedProgram::run_loop(Executor& executor, const Loop& loop, const Compiled& compiled, Values& values,
                             Results& results, std::vector<Stream>& streams) const {
  std::vector<Array> state = executor.run(*compiled.straight, arrays_of(values, loop.begin.takes));
  const std::vector<Array> reads = arrays_of(values, loop.reads);
  const Placement whole = replicated(executor.mesh());
  const auto iteration = [&](int64_t k) { return loop.reverse ? loop.length - 1 - k : k; };
  for (size_t stream : loop.streams_out) results.streams.at(stream).resize(static_cast<size_t>(loop.length));
  std::vector<Array> slices = fetch(loop, streams, iteration(0)), being_read;
  for (int64_t k = 0; k < loop.length; ++k) {
    const int64_t at = iteration(k);
    std::vector<Array> arguments = {to_device(executor.devices(), HostTensor::scalar(static_cast<int32_t>(at)), whole)};
    arguments.insert(arguments.end(), state.begin(), state.end());
    arguments.insert(arguments.end(), reads.begin(), reads.end());
    arguments.insert(arguments.end(), slices.begin(), slices.end());
    std::vector<Array> given = executor.run(*compiled.body, std::move(arguments));
    const auto first_slice = given.begin() + static_cast<int64_t>(state.size());
    for (size_t s = 0; s < loop.streams_out.size(); ++s) {
      Array& slot = results.streams.at(loop.streams_out[s]).at(static_cast<size_t>(at));
      slot = copy_to(first_slice[static_cast<int64_t>(s)], pjrt::MemoryKind::PinnedHost);
      slot.set_kind(ArrayKind::Residual);
    }
    state.assign(given.begin(), first_slice);
    given.clear();
    // The slices of the iteration before are free once it is done, and then there is room for the next one's.
    executor.wait(1);
    being_read = std::move(slices);
    slices.clear();
    if (k + 1 < loop.length) slices = fetch(loop, streams, iteration(k + 1));
  }
  store(values, loop.results(), state);
}

StagedProgram::Results StagedProgram::run(Executor& executor, std::vector<Array> arguments,
                                          std::vector<Stream> streams) const {
  require(arguments.size() == stages_.inputs.size() && streams.size() == stages_.streams_in,
          "{} arguments and {} streams for a program of {} and {}", arguments.size(), streams.size(),
          stages_.inputs.size(), stages_.streams_in);
  Results results;
  results.streams.resize(stages_.streams_out);
  Values values;
  store(values, stages_.inputs, arguments);
  arguments.clear();
  for (size_t s = 0; s < stages_.list.size(); ++s) {
    if (const auto* straight = std::get_if<Straight>(&stages_.list[s]))
      store(values, straight->gives, executor.run(*compiled_[s].straight, arrays_of(values, straight->takes)));
    else
      run_loop(executor, std::get<Loop>(stages_.list[s]), compiled_[s], values, results, streams);
    for (ValueId gone : stages_.last[s]) values.erase(gone);
  }
  results.outputs = arrays_of(values, stages_.outputs);
  return results;
}

std::vector<const Program*> StagedProgram::programs() const {
  std::vector<const Program*> all;
  for (const Stage& stage : stages_.list) {
    if (const auto* straight = std::get_if<Straight>(&stage)) {
      all.push_back(&straight->program);
      continue;
    }
    all.push_back(&std::get<Loop>(stage).begin.program);
    all.push_back(&std::get<Loop>(stage).body);
  }
  return all;
}

std::vector<std::shared_ptr<const CompiledProgram>> StagedProgram::compiled() const {
  std::vector<std::shared_ptr<const CompiledProgram>> all;
  for (const Compiled& c : compiled_) {
    all.push_back(c.straight);
    if (c.body) all.push_back(c.body);
  }
  return all;
}

}  // namespace tethys
