// Profiler: what a plugin records of its devices, where it has the extension for it. One at a time in a process; it
// records from its construction on. One thread uses it.
//
//   if (const ProfilerTable* table = Profiler::table_of(*plugin)) {
//     Profiler profiler(table, plugin->path());
//     …runs…
//     write_file("run.xplane.pb", profiler.stop());
//   }
#pragma once

#include <string>

#include "pjrt/plugin.h"

namespace tethys::pjrt {

struct ProfilerTable;
struct ProfilerHandle;
struct ProfilerFailure;

class Profiler {
 public:
  // The plugin's functions; null if it has no profiler.
  static const ProfilerTable* table_of(const Plugin& plugin);

  // `plugin` is named in errors. PjrtError if the plugin cannot record, such as without a device.
  Profiler(const ProfilerTable* table, std::string plugin);
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;
  ~Profiler();

  // Ends the recording: a serialized XSpace, as TensorBoard's profiler and xprof read it. PjrtError.
  std::string stop();

 private:
  void check(const char* function, ProfilerFailure* failure) const;
  void end();

  const ProfilerTable* table_;
  std::string plugin_;
  ProfilerHandle* handle_ = nullptr;
  bool running_ = false;
};

}  // namespace tethys::pjrt
