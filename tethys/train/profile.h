// Profile: a timeline of a few steps of a run, written to its folder in the Trace Event Format, which
// https://ui.perfetto.dev opens, and beside it what the plugin records of its devices, where it does. The set-up of the
// run is part of the timeline, the steps that warm up are not. One thread uses it.
//
//   Profile profile(config, {folder / "profile", tracer, plugin, say}, done);     // steps `done + 1` and so on
//   for (…) {
//     profile.begin_step(step);
//     …
//     profile.end_step(step);                  // after the last: no event is recorded any more
//   }
//   profile.finish();                          // also of a run that is stopped before
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/file.h"
#include "pjrt/profiler.h"
#include "runtime/tracer.h"

namespace tethys {

class Config;

struct ProfileOptions {
  Path folder;  // is made
  std::shared_ptr<Tracer> tracer;
  std::shared_ptr<const pjrt::Plugin> plugin;
  std::function<void(const std::string& line)> say;
};

class Profile {
 public:
  // `done` steps were done before, by runs that this one goes on with. UserError if the folder cannot be made.
  Profile(const Config& config, ProfileOptions options, int64_t done);

  // Steps count from 1.
  void begin_step(int64_t step);
  void end_step(int64_t step);
  bool ends_with(int64_t step) const { return step == last_; }
  // Writes what there is, if a step is in it. What cannot be written is said, and the run goes on.
  void finish();

 private:
  void begin_plugin();
  void end();
  void write(const std::string& extension, const std::string& content, const std::string& what);
  void write_events();

  ProfileOptions options_;
  int64_t first_, last_;
  int64_t traced_ = 0;  // the newest step that is in it
  enum class State { Warming, Tracing, Ended, Written } state_ = State::Warming;
  std::optional<pjrt::Profiler> plugin_;
};

// The events in the Trace Event Format: the host's threads as one process, the devices as another.
std::string trace_json(const Tracer::Recorded& recorded);

}  // namespace tethys
