// SavedStep: a training step that was compiled, in a file, with what it is of, so that a run which is the same in all
// of it loads the program and another is refused in words.
//
//   save_step("step.exe", identity, executable.serialize());
//   auto step = std::make_shared<const SavedStep>("step.exe");
//   executor = make_executor(config, machine, mesh, options, saved_program(step, config, *machine.client));
//
// The file: a line that says what it is, the hash of all that follows, the identity as one line of JSON, the
// executable.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "pjrt/device_info.h"
#include "runtime/program_cache.h"

namespace tethys {

class Config;

struct StepIdentity {
  std::string recipe;
  std::string saved_by;                        // version of the program
  std::string platform;                        // "tpu"
  std::string plugin;                          // name of its file
  std::string plugin_version;                  // pjrt::Plugin::version
  std::string topology;                        // as it was asked for: "2 × v6e:16x16"; empty: devices that were there
  std::string devices;                         // pjrt::describe_devices
  std::string devices_key;                     // pjrt::devices_key
  std::string cpu;                             // where the program runs on one: its model and features, hashed
  std::string program;                         // content_key
  std::map<std::string, std::string> options;  // all of the configuration, as TOML

  bool operator==(const StepIdentity&) const = default;
};

// What is the same for all programs of a plugin and devices. `topology` as in StepIdentity.
StepIdentity step_identity(const Config& config, const pjrt::Plugin& plugin, const std::string& topology,
                           const std::vector<pjrt::DeviceInfo>& devices);

void save_step(const Path& path, const StepIdentity& identity, std::string_view executable);

// Any thread may read it.
class SavedStep {
 public:
  // UserError if it is no such file, one of another format, damaged, or cut short.
  explicit SavedStep(const Path& path);

  const Path& path() const { return path_; }
  const StepIdentity& identity() const { return identity_; }
  std::string_view executable() const { return executable_; }
  // "step.exe, saved from llama3_8b for v6e:16x16 (256 × TPU v6 lite, 16x16x1)"
  std::string describe() const;

 private:
  Path path_;
  MappedFile file_;
  StepIdentity identity_;
  std::string_view executable_;
};

// For an executor of the configuration. UserError if it is of another platform, plugin, version of it, or of other
// devices.
SavedProgram saved_program(const std::shared_ptr<const SavedStep>& step, const Config& config,
                           const pjrt::Client& client);

}  // namespace tethys
