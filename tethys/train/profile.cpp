#include "train/profile.h"

#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/number.h"
#include "config/config.h"

namespace tethys {
namespace {

constexpr int kHost = 1, kDevices = 2;
// What a viewer shows above the devices.
constexpr int64_t kStepsTrack = 0;

// How long the end of a run waits for what is still under way.
constexpr std::chrono::seconds kLongestWait(10);

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

int64_t track_of_device(int64_t device) { return kStepsTrack + 1 + device; }

class Events {
 public:
  explicit Events(Clock::time_point origin) : origin_(origin) {}

  void process(int id, const std::string& name) {
    line(R"("ph":"M","pid":{},"name":"process_name","args":{{"name":{}}})", id, quoted(name));
    line(R"("ph":"M","pid":{0},"name":"process_sort_index","args":{{"sort_index":{0}}})", id);
  }
  void track(int process, int64_t id, const std::string& name) {
    line(R"("ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":{}}})", process, id, quoted(name));
    line(R"("ph":"M","pid":{0},"tid":{1},"name":"thread_sort_index","args":{{"sort_index":{1}}})", process, id);
  }
  void add(const TraceEvent& event) {
    const std::string name = quoted(event.name);
    const double begin = since_origin(event.begin);
    const std::string args =
        event.number.key == nullptr ? "" : fmt::format(R"("{}":{})", event.number.key, event.number.value);
    using Kind = TraceEvent::Kind;
    switch (event.kind) {
      case Kind::Span:
      case Kind::Device: {
        const bool host = event.kind == Kind::Span;
        line(R"("ph":"X","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f},"name":{},"args":{{{}}})", host ? kHost : kDevices,
             host ? event.track : track_of_device(event.track), begin, since_origin(event.end) - begin, name, args);
        return;
      }
      case Kind::Moment:
        line(R"("ph":"i","s":"p","pid":{},"tid":{},"ts":{:.3f},"name":{})", kDevices, kStepsTrack, begin, name);
        return;
      case Kind::Counter:
        line(R"("ph":"C","pid":{},"ts":{:.3f},"name":{},"args":{{{}}})", kDevices, begin, name, args);
        return;
    }
  }
  std::string text() && { return std::move(text_); }

 private:
  double since_origin(Clock::time_point at) const { return seconds_between(origin_, at) * 1e6; }

  template <typename... Values>
  void line(fmt::format_string<Values...> format, Values&&... values) {
    text_ += text_.empty() ? "{" : ",\n{";
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
    text_ += '}';
  }

  Clock::time_point origin_;
  std::string text_;
};

}  // namespace

std::string trace_json(const Tracer::Recorded& recorded) {
  Events events(recorded.origin);
  events.process(kHost, "host");
  for (size_t i = 0; i < recorded.threads.size(); ++i) {
    events.track(kHost, static_cast<int64_t>(i), recorded.threads[i]);
  }
  events.process(kDevices, "devices");
  events.track(kDevices, kStepsTrack, "steps");
  std::set<int64_t> devices;
  for (const TraceEvent& event : recorded.events) {
    if (event.kind == TraceEvent::Kind::Device) devices.insert(event.track);
  }
  for (int64_t device : devices) {
    events.track(kDevices, track_of_device(device), fmt::format("device {}", device));
  }
  for (const TraceEvent& event : recorded.events) events.add(event);
  return fmt::format(
      "{{\"displayTimeUnit\":\"ms\",\"otherData\":{{\"dropped_events\":{}}},\"traceEvents\":[\n{}\n]}}\n",
      recorded.dropped, std::move(events).text());
}

Profile::Profile(const Config& config, ProfileOptions options, int64_t done)
    : options_(std::move(options)),
      first_(done + config.get_int("profiling.profiler_warmup") + 1),
      last_(first_ + config.get_int("profiling.profiler_active") - 1) {
  make_directories(options_.folder);
  options_.tracer->record(false);
}

void Profile::begin_step(int64_t step) {
  if (step != first_) return;
  state_ = State::Tracing;
  begin_plugin();
  options_.tracer->record(true);
}

void Profile::begin_plugin() {
  const pjrt::ProfilerTable* table = pjrt::Profiler::table_of(*options_.plugin);
  if (table == nullptr) return options_.say("profile: the plugin has no profiler of its own");
  try {
    plugin_.emplace(table, options_.plugin->path());
  } catch (const Error& error) {
    options_.say(fmt::format("profile: the plugin records nothing: {}", error.what()));
  }
}

// A save that goes on is part of the timeline, and is not waited for.
void Profile::end_step(int64_t step) {
  if (state_ == State::Tracing) traced_ = step;
  if (state_ == State::Tracing && step == last_) end();
  if (state_ == State::Ended && options_.tracer->settled(std::chrono::milliseconds(0))) write_events();
}

void Profile::finish() {
  if (state_ == State::Tracing) end();
  if (state_ == State::Ended) {
    options_.tracer->settled(kLongestWait);
    write_events();
  }
  if (traced_ == 0) options_.say(fmt::format("profile: nothing is traced, the run ended before step {}", first_));
}

void Profile::end() {
  options_.tracer->record(false);
  state_ = State::Ended;
  if (!plugin_) return;
  try {
    write("xplane.pb", plugin_->stop(), "what the plugin recorded, for TensorBoard's profiler or xprof,");
  } catch (const Error& error) {
    options_.say(fmt::format("profile: the plugin records nothing: {}", error.what()));
  }
  plugin_.reset();
}

void Profile::write_events() {
  state_ = State::Written;
  const Tracer::Recorded recorded = options_.tracer->take();
  if (traced_ == 0) return;
  std::string what =
      first_ == traced_ ? fmt::format("step {}", first_) : fmt::format("steps {} to {}", first_, traced_);
  what += ", " + counted(static_cast<int64_t>(recorded.events.size()), "event") + ", for https://ui.perfetto.dev,";
  write("trace.json", trace_json(recorded), what);
  if (recorded.dropped == 0) return;
  options_.say(fmt::format("profile: {} did not fit; a lower profiling.profiler_active leaves room",
                           counted(recorded.dropped, "more event")));
}

void Profile::write(const std::string& extension, const std::string& content, const std::string& what) {
  const Path path = options_.folder / fmt::format("step-{:08}.{}", first_, extension);
  try {
    write_file(path, content);
    options_.say(fmt::format("profile: {} is {}", what, path.string()));
  } catch (const Error& error) {
    options_.say(fmt::format("profile: {}", error.what()));
  }
}

}  // namespace tethys
