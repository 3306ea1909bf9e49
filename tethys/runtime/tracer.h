// Tracer: what happened when, for a timeline: spans of the host's threads, runs on devices, moments and counters.
// Passed down by a pointer that is null where nobody looks; then, and while it does not record, a span costs a test. It
// keeps a bounded number of events and counts those that came after. Any thread may use it.
//
//   auto tracer = std::make_shared<Tracer>();
//   tracer->record(true);
//   tracer->name_thread("training");
//   {
//     const Span span(tracer, "write", path, {"bytes", size});   // "write PATH" on the track of this thread
//     …
//   }
//   tracer->recorded().events;
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"

namespace tethys {

// A number that an event carries: "bytes" 4096. The key is a literal; null: none.
struct TraceNumber {
  const char* key = nullptr;
  int64_t value = 0;
};

struct TraceEvent {
  enum class Kind : uint8_t { Span, Device, Moment, Counter };
  Kind kind = Kind::Span;
  int64_t track = 0;  // of a span the thread's, an index of Recorded::threads; of Device the device
  std::string name;
  Clock::time_point begin, end;  // alike but for Span and Device
  TraceNumber number;
};

class Tracer : public std::enable_shared_from_this<Tracer> {
 public:
  static constexpr size_t kMostEvents = size_t{1} << 18;  // some 30 MB in memory and in a file

  explicit Tracer(size_t most_events = kMostEvents) : most_events_(most_events) {}
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  // What begins while it does not record is left out; what has begun is recorded at its end.
  void record(bool on) { recording_ = on; }
  bool recording() const { return recording_.load(std::memory_order_relaxed); }

  // The calling thread's spans go to the track of this name from now on.
  void name_thread(const std::string& name);

  // A program that a device was handed at `launched`: call the result when the device is done with it.
  std::function<void()> device_run(int64_t device, const std::string& name, Clock::time_point launched);
  void moment(std::string name, Clock::time_point at);
  void counter(std::string name, int64_t value);

  // Waits until all that has begun is recorded, for `most` at most; whether it is.
  bool settled(std::chrono::milliseconds most);

  struct Recorded {
    Clock::time_point origin;
    std::vector<std::string> threads;  // the names of their tracks
    std::deque<TraceEvent> events;
    int64_t dropped = 0;  // because there were too many
  };
  // What there is so far, which it forgets.
  Recorded take();

 private:
  friend class Span;
  int64_t track_of_thread(const std::string& name);
  int64_t begin_span();
  void end_span(TraceEvent event);
  int64_t track_locked(const std::string& name);
  void add_locked(TraceEvent event);

  const size_t most_events_;
  std::atomic<bool> recording_ = false;
  std::mutex mutex_;  // of all below
  std::condition_variable ended_;
  int64_t open_ = 0;  // spans and runs that have begun
  std::map<std::thread::id, int64_t> track_of_;
  std::map<std::pair<std::thread::id, std::string>, int64_t> tracks_;
  std::map<int64_t, Clock::time_point> device_free_;  // when a device was done with its last run
  Recorded recorded_{.origin = Clock::now(), .threads = {}, .events = {}, .dropped = 0};
};

// The time of its life, as a span of its thread called `name`, a blank and `detail`, which must outlive it.
class Span {
 public:
  Span(const std::shared_ptr<Tracer>& tracer, std::string_view name, std::string_view detail = {},
       TraceNumber number = {})
      : tracer_(tracer && tracer->recording() ? tracer.get() : nullptr), name_(name), detail_(detail), number_(number) {
    if (tracer_ == nullptr) return;
    track_ = tracer_->begin_span();
    begin_ = Clock::now();
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;
  ~Span() { end(); }

  // Begins anew on the calling thread, which from now on has this name: for work that another thread is given. It
  // counts as begun from the construction on.
  void move_to(const std::string& thread);
  // Before the end of its life.
  void end();
  // What is known later.
  void set(TraceNumber number) { number_ = number; }

 private:
  Tracer* tracer_;
  std::string_view name_, detail_;
  TraceNumber number_;
  int64_t track_ = 0;
  Clock::time_point begin_;
};

}  // namespace tethys
