#include "runtime/tracer.h"

#include <gtest/gtest.h>

namespace tethys {
namespace {

using Kind = TraceEvent::Kind;

std::vector<std::string> names_of(const Tracer::Recorded& recorded) {
  std::vector<std::string> names;
  for (const TraceEvent& event : recorded.events) names.push_back(event.name);
  return names;
}

TEST(Tracer, SpansNestOnTheTrackOfTheirThread) {
  const auto tracer = std::make_shared<Tracer>();
  tracer->record(true);
  tracer->name_thread("main");
  {
    const Span outer(tracer, "step", "7", {"step", 7});
    const Span inner(tracer, "launch");
  }
  std::thread([&] { const Span span(tracer, "elsewhere"); }).join();
  const Tracer::Recorded recorded = tracer->take();
  ASSERT_EQ(names_of(recorded), (std::vector<std::string>{"launch", "step 7", "elsewhere"}));
  const TraceEvent &inner = recorded.events[0], &outer = recorded.events[1];
  EXPECT_LE(outer.begin, inner.begin);
  EXPECT_GE(outer.end, inner.end);
  EXPECT_STREQ(outer.number.key, "step");
  EXPECT_EQ(outer.number.value, 7);
  EXPECT_EQ(recorded.threads.at(static_cast<size_t>(inner.track)), "main");
  EXPECT_EQ(inner.track, outer.track);
  EXPECT_EQ(recorded.threads.at(static_cast<size_t>(recorded.events[2].track)), "other");
}

TEST(Tracer, LeavesOutWhatBeginsWhileItDoesNotRecordAndKeepsWhatHasBegun) {
  const auto tracer = std::make_shared<Tracer>();
  { const Span span(tracer, "before"); }
  tracer->record(true);
  {
    const Span span(tracer, "kept");
    tracer->record(false);
    EXPECT_FALSE(tracer->settled(std::chrono::milliseconds(0)));
    const Span after(tracer, "after");
    tracer->counter("memory", 1);
    tracer->moment("step 1", Clock::now());
  }
  { const Span span(std::shared_ptr<Tracer>(), "without a tracer"); }
  EXPECT_TRUE(tracer->settled(std::chrono::milliseconds(0)));
  EXPECT_EQ(names_of(tracer->take()), std::vector<std::string>{"kept"});
  EXPECT_TRUE(tracer->take().events.empty());
}

TEST(Tracer, ASpanThatIsGivenToAnotherThreadHasBegunBefore) {
  const auto tracer = std::make_shared<Tracer>();
  tracer->record(true);
  Span span(tracer, "write");
  tracer->record(false);
  EXPECT_FALSE(tracer->settled(std::chrono::milliseconds(0)));
  std::thread([&] {
    span.move_to("writer");
    span.end();
  }).join();
  EXPECT_TRUE(tracer->settled(std::chrono::milliseconds(0)));
  const Tracer::Recorded recorded = tracer->take();
  ASSERT_EQ(names_of(recorded), std::vector<std::string>{"write"});
  EXPECT_EQ(recorded.threads.at(static_cast<size_t>(recorded.events[0].track)), "writer");
}

TEST(Tracer, ADeviceRunsOneProgramAfterTheOther) {
  const auto tracer = std::make_shared<Tracer>();
  tracer->record(true);
  const Clock::time_point launched = Clock::now();
  const auto first = tracer->device_run(0, "a", launched), second = tracer->device_run(0, "b", launched);
  const auto other = tracer->device_run(1, "a", launched);
  EXPECT_FALSE(tracer->settled(std::chrono::milliseconds(0)));
  first();
  second();
  other();
  EXPECT_TRUE(tracer->settled(std::chrono::milliseconds(0)));
  const Tracer::Recorded recorded = tracer->take();
  ASSERT_EQ(recorded.events.size(), 3u);
  EXPECT_EQ(recorded.events[0].begin, launched);
  EXPECT_EQ(recorded.events[1].begin, recorded.events[0].end);
  EXPECT_EQ(recorded.events[2].begin, launched);
  EXPECT_EQ(recorded.events[2].track, 1);
  for (const TraceEvent& event : recorded.events) EXPECT_EQ(event.kind, Kind::Device);
}

TEST(Tracer, CountsWhatItHasNoRoomFor) {
  const auto tracer = std::make_shared<Tracer>(2);
  tracer->record(true);
  for (int i = 0; i < 5; ++i) tracer->counter("memory", i);
  const Tracer::Recorded recorded = tracer->take();
  EXPECT_EQ(recorded.events.size(), 2u);
  EXPECT_EQ(recorded.dropped, 3);
}

}  // namespace
}  // namespace tethys
