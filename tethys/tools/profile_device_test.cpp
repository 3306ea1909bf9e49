// `tethys train --profile` from outside: what is on the timeline that a run leaves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "tools/testing.h"

namespace tethys {
namespace {

using testing::HasSubstr;

struct Event {
  std::string name, phase, track;
  double begin = 0, end = 0;  // microseconds
  nlohmann::json args;

  bool holds(const Event& o) const { return begin <= o.begin && o.end <= end; }
};

// The events of the trace file of a run whose first traced step this is.
std::vector<Event> trace_of(const Path& run, int64_t first) {
  const auto trace =
      nlohmann::json::parse(read_file(run / "profile" / fmt::format("step-{:08}.trace.json", first))).at("traceEvents");
  std::map<std::pair<int, int>, std::string> tracks;
  std::vector<Event> events;
  for (const auto& e : trace) {
    if (e.at("name") == "thread_name") tracks[{e.at("pid"), e.at("tid")}] = e.at("args").at("name");
  }
  for (const auto& e : trace) {
    if (e.at("ph") == "M") continue;
    const double begin = e.at("ts");
    events.push_back({e.at("name"), e.at("ph"), e.contains("tid") ? tracks.at({e.at("pid"), e.at("tid")}) : "", begin,
                      begin + e.value("dur", 0.0), e.value("args", nlohmann::json::object())});
  }
  return events;
}

std::vector<Event> named(const std::vector<Event>& events, const std::string& name, const std::string& track = "") {
  std::vector<Event> found;
  for (const Event& e : events) {
    if (e.name == name && (track.empty() || e.track == track)) found.push_back(e);
  }
  return found;
}

// Spans of one track lie inside each other or apart, or a viewer would draw them wrong.
void expect_nested(const std::vector<Event>& events) {
  constexpr double kRounding = 0.002;
  for (const Event& a : events) {
    for (const Event& b : events) {
      if (a.phase != "X" || b.phase != "X" || a.track != b.track || b.begin < a.begin) continue;
      EXPECT_TRUE(b.begin >= a.end - kRounding || b.end <= a.end + kRounding)
          << a.track << ": " << a.name << " and " << b.name;
    }
  }
}

class Profile : public testing::TestWithParam<int> {};

TEST_P(Profile, HasProgramsTransfersDataAndCheckpointsOfItsSteps) {
  TemporaryFolder folder;
  const Path run = folder / "run";
  const Ended ended = run_tethys(corpus().train(run) + (GetParam() == 4 ? kFsdp4 : Flags{}) +
                                 Flags{"--profile", "--profiling.profiler_warmup", "2", "--training.steps", "8",
                                       "--checkpoint.interval", "4", "--validation.enable", "--validation.freq", "4",
                                       "--metrics.log_freq", "1"});
  expect_done(ended);
  EXPECT_THAT(ended.output, HasSubstr("profile: the plugin has no profiler of its own\n"));
  EXPECT_THAT(ended.output, HasSubstr("profile: steps 3 to 5, "));
  const std::vector<Event> events = trace_of(run, 3);
  expect_nested(events);

  EXPECT_EQ(named(events, "compile training step", "compiler").size(), 1u);
  EXPECT_EQ(named(events, "compile validation", "training").size(), 1u);
  std::set<std::string> steps;
  for (const Event& e : events) {
    if (e.track == "training" && e.args.contains("step") && e.name.starts_with("step ")) steps.insert(e.name);
  }
  EXPECT_EQ(steps, (std::set<std::string>{"step 3", "step 4", "step 5"}));
  for (const std::string& name : steps) {
    const Event step = named(events, name, "training").at(0);
    double inside = 0;  // of what is directly in it
    std::map<std::string, int> children;
    const Event* last = nullptr;
    std::vector<Event> spans;
    for (const Event& e : events) {
      if (e.track == "training" && e.phase == "X" && step.holds(e) && e.name != name) spans.push_back(e);
    }
    std::sort(spans.begin(), spans.end(), [](const Event& a, const Event& b) { return a.begin < b.begin; });
    for (const Event& e : spans) {
      ++children[e.name];
      if (last != nullptr && last->holds(e)) continue;
      inside += e.end - e.begin;
      last = &e;
    }
    EXPECT_LE(inside, step.end - step.begin + 1) << name;
    EXPECT_EQ(children["wait for a batch"], 1) << name;
    EXPECT_EQ(children["launch training step"], 1) << name;
    EXPECT_GE(children["host to device"], 6) << name;
    EXPECT_GE(children["report metrics"], 1) << name;
    for (int device = 0; device < GetParam(); ++device) {
      const auto runs = named(events, "training step", fmt::format("device {}", device));
      // It may end in the next step, which is handed over meanwhile.
      const auto begins = [&](const Event& e) { return step.begin <= e.begin && e.begin <= step.end; };
      EXPECT_EQ(std::count_if(runs.begin(), runs.end(), begins), 1) << name << " on device " << device;
    }
    EXPECT_EQ(named(events, name + " is done", "steps").size(), 1u);
  }
  EXPECT_FALSE(named(events, "make a batch", "data loader").empty());
  const Event batch = *std::max_element(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return a.args.value("bytes", 0) * (a.name == "host to device") <
           b.args.value("bytes", 0) * (b.name == "host to device");
  });
  EXPECT_GE(batch.args.at("bytes"), 4 * 32 * 4);
  EXPECT_FALSE(named(events, "device to host", "training").empty());

  // The checkpoint and the validation of step 4.
  const Event save = named(events, "save", "training").at(0);
  EXPECT_TRUE(named(events, "step 4").at(0).holds(save));
  const Event copy = named(events, "copy the state to the host", "training").at(0);
  EXPECT_TRUE(save.holds(copy));
  EXPECT_GT(copy.args.at("bytes"), 300000);
  const auto written = named(events, "write the checkpoint", "checkpoint writer");
  ASSERT_EQ(written.size(), 1u);
  EXPECT_EQ(written[0].args.at("step"), 4);
  EXPECT_GE(written[0].begin, copy.end);
  EXPECT_FALSE(named(events, "launch validation", "training").empty());
  EXPECT_EQ(named(events, "validation", "training").size(), 1u);

  const auto memory = named(events, "device memory");
  ASSERT_FALSE(memory.empty());
  EXPECT_GT(memory.back().args.at("bytes"), 300000);
}

INSTANTIATE_TEST_SUITE_P(Devices, Profile, testing::Values(1, 4));

TEST(Profiles, OfEagerModeNameTheOps) {
  TemporaryFolder folder;
  expect_done(run_tethys(corpus().train(folder / "run") + Flags{"--profile", "--profiling.profiler_warmup", "1",
                                                                "--profiling.profiler_active", "1", "--training.steps",
                                                                "2", "--mode", "eager"}));
  const std::vector<Event> events = trace_of(folder / "run", 2);
  EXPECT_FALSE(named(events, "run dot of layers.1.feed_forward.w2", "training").empty());
  EXPECT_FALSE(named(events, "launch dot", "training").empty());
  EXPECT_FALSE(named(events, "dot", "device 0").empty());
  EXPECT_EQ(named(events, "compile dot").size(), 0u);  // they were in the step that warms up
}

TEST(Profiles, OfCompileModeNameItsPrograms) {
  TemporaryFolder folder;
  expect_done(run_tethys(corpus().train(folder / "run") +
                         Flags{"--profile", "--profiling.profiler_warmup", "0", "--profiling.profiler_active", "1",
                               "--training.steps", "1", "--mode", "compile", "--training.global_batch_size", "8"}));
  const std::vector<Event> events = trace_of(folder / "run", 1);
  for (const char* name : {"forward", "backward", "optimizer"}) {
    EXPECT_EQ(named(events, std::string("compile ") + name, "compiler").size(), 1u);
    const size_t runs = name == std::string("optimizer") ? 1 : 2;  // of each microbatch
    EXPECT_EQ(named(events, std::string("launch ") + name, "training").size(), runs) << name;
    EXPECT_EQ(named(events, name, "device 0").size(), runs) << name;
  }
}

TEST(Profiles, OfARunThatIsStoppedHoldTheStepsUntilThen) {
  TemporaryFolder folder;
  const Path run = folder / "run";
  Process process(corpus().train(run) + Flags{"--profile", "--profiling.profiler_warmup", "0",
                                              "--profiling.profiler_active", "1000", "--training.steps", "1000000",
                                              "--training.seq_len", "128", "--metrics.log_freq", "1"});
  while (process.running() && process.output().find("step:  3") == std::string::npos) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  process.kill(SIGTERM);
  const Ended ended = process.await();
  EXPECT_EQ(ended.status, 128 + SIGTERM) << ended.output;
  EXPECT_THAT(ended.output, HasSubstr("profile: steps 1 to "));
  const std::vector<Event> events = trace_of(run, 1);
  for (const char* name : {"step 1", "step 2", "step 3", "write the checkpoint"}) {
    EXPECT_EQ(named(events, name).size(), 1u) << name;
  }
}

TEST(Profiles, ThatCannotBeAreRefusedOrSaySo) {
  TemporaryFolder folder;
  const std::pair<Flags, std::string> mistakes[] = {
      {{"--profile", "--training.steps", "3"},
       "profiling.profiler_warmup = 3 (default) leaves none of training.steps = 3 (--training.steps) to trace"},
      {{"--profile", "--profiling.profiler_active", "0"},
       "profiling.profiler_active is 0, expected an int, at least 1 and at most 1000"},
      {{"--profile", "--profiling.profiler_warmup", "-1"},
       "profiling.profiler_warmup is -1, expected an int, at least 0"},
      {{"--checkpoint.folder", "profile"}, "is no free name in the output folder"},
  };
  for (const auto& [flags, message] : mistakes) {
    const Ended ended = run_tethys(corpus().train(folder / "bad") + flags);
    EXPECT_EQ(ended.status, 2);
    EXPECT_THAT(ended.output, HasSubstr(message));
  }
  const Path run = folder / "run";
  const Ended idle =
      run_tethys(corpus().train(run) + Flags{"--training.steps", "2", "--profiling.profiler_active", "2"});
  expect_done(idle);
  EXPECT_THAT(idle.output, HasSubstr("does nothing without --profile"));
  EXPECT_FALSE(std::filesystem::exists(run / "profile"));
  const Ended late = run_tethys({"train", run.string(), "--resume", "--training.steps", "5", "--profile"});
  expect_done(late);
  EXPECT_THAT(late.output, HasSubstr("profile: nothing is traced, the run ended before step 6"));
  EXPECT_TRUE(std::filesystem::is_empty(run / "profile"));
}

}  // namespace
}  // namespace tethys
