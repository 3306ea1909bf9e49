#include "train/profile.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace tethys {
namespace {

using Kind = TraceEvent::Kind;
using std::chrono::microseconds;

TEST(TraceJson, HoldsTracksSpansMomentsAndCountersInMicroseconds) {
  Tracer::Recorded recorded;
  recorded.threads = {"training", "data \"loader\""};
  recorded.dropped = 7;
  const Clock::time_point a = recorded.origin + microseconds(5), b = recorded.origin + microseconds(12);
  recorded.events = {{Kind::Span, 1, "make a batch", a, b, {"step", 3}},
                     {Kind::Device, 2, "training step", a, b, {}},
                     {Kind::Moment, 0, "step 3 is done", b, b, {}},
                     {Kind::Counter, 0, "device memory", a, a, {"bytes", 64}}};
  const nlohmann::json trace = nlohmann::json::parse(trace_json(recorded));
  EXPECT_EQ(trace.at("otherData").at("dropped_events"), 7);
  std::map<std::string, nlohmann::json> events, tracks;
  for (const nlohmann::json& event : trace.at("traceEvents")) {
    if (event.at("ph") != "M") events[event.at("name")] = event;
    if (event.at("name") == "thread_name") tracks[event.at("args").at("name")] = event;
  }
  const nlohmann::json& span = events.at("make a batch");
  EXPECT_EQ(span.at("ph"), "X");
  EXPECT_NEAR(span.at("ts"), 5, 1e-3);
  EXPECT_NEAR(span.at("dur"), 7, 1e-3);
  EXPECT_EQ(span.at("args").at("step"), 3);
  EXPECT_EQ(span.at("tid"), tracks.at("data \"loader\"").at("tid"));
  const nlohmann::json& run = events.at("training step");
  EXPECT_EQ(run.at("tid"), tracks.at("device 2").at("tid"));
  EXPECT_NE(run.at("pid"), span.at("pid"));
  EXPECT_EQ(events.at("step 3 is done").at("tid"), tracks.at("steps").at("tid"));
  EXPECT_EQ(events.at("device memory").at("args").at("bytes"), 64);
}

TEST(TraceJson, OfNothingIsATraceToo) {
  EXPECT_TRUE(nlohmann::json::parse(trace_json({})).at("traceEvents").is_array());
}

}  // namespace
}  // namespace tethys
