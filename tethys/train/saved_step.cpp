#include "train/saved_step.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/hash.h"
#include "checkpoint/json.h"
#include "config/config.h"
#include "train/machine.h"

namespace tethys {
namespace {

constexpr std::string_view kKind = "tethys executable ";
constexpr std::string_view kMagic = "tethys executable 1\n";
constexpr size_t kHashDigits = 32;

using Field = std::pair<const char*, std::string StepIdentity::*>;
constexpr Field kFields[] = {{"recipe", &StepIdentity::recipe},
                             {"saved_by", &StepIdentity::saved_by},
                             {"platform", &StepIdentity::platform},
                             {"plugin", &StepIdentity::plugin},
                             {"plugin_version", &StepIdentity::plugin_version},
                             {"topology", &StepIdentity::topology},
                             {"devices", &StepIdentity::devices},
                             {"devices_key", &StepIdentity::devices_key},
                             {"cpu", &StepIdentity::cpu},
                             {"program", &StepIdentity::program}};

std::string header_of(const StepIdentity& identity) {
  nlohmann::json json;
  for (const auto& [name, field] : kFields) json[name] = identity.*field;
  json["options"] = identity.options;
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

StepIdentity parse_header(std::string_view text, const std::string& where) {
  const nlohmann::json json = parse_json(text, where);
  StepIdentity identity;
  for (const auto& [name, field] : kFields) identity.*field = string_member(json, name, where);
  const nlohmann::json& options = member(json, "options", where);
  for (const auto& [name, value] : options.items())
    identity.options[name] = string_member(options, name.c_str(), where);
  return identity;
}

// What the hash stands for.
std::string_view checked_body(std::string_view content, const std::string& name) {
  if (!content.starts_with(kKind)) {
    user_error("{} is no saved executable: expected a file that `tethys compile --save` wrote", name);
  }
  if (!content.starts_with(kMagic)) {
    user_error(
        "{} is a saved executable in the format of another version of tethys; save it anew by `tethys compile "
        "--save`",
        name);
  }
  const std::string_view rest = content.substr(kMagic.size());
  const std::string_view body = rest.substr(std::min(kHashDigits, rest.size()));
  if (rest.substr(0, kHashDigits) != hash_hex(body)) {
    user_error(
        "{} is damaged or cut short: its content is not what was saved; copy it again, or save it anew by "
        "`tethys compile --save`",
        name);
  }
  return body;
}

// Whether the option may change the step's program.
bool is_of_program(const Option& option) {
  for (const char* section : {"model", "training", "optimizer", "parallelism", "graph", "kernels", "compile"}) {
    if (section_of(option) == section) return true;
  }
  return option.name == "device.compile_options";
}

std::string changed_options(const StepIdentity& identity, const Config& config) {
  std::string changes;
  for (const Option& option : config.options()) {
    const auto saved = identity.options.find(option.name);
    if (!is_of_program(option) || saved == identity.options.end()) continue;
    if (saved->second == to_toml(config.value(option.name))) continue;
    changes += fmt::format("{}{}, and {} there", changes.empty() ? "" : "; ", config.cite(option.name), saved->second);
  }
  return changes;
}

std::string said_of_another_program(const SavedStep& step, const Config& config) {
  const std::string changes = changed_options(step.identity(), config);
  return fmt::format(
      "{} is another program than this run's step: {}; save it anew by `tethys compile --save` with this run's options",
      step.describe(),
      changes.empty() ? fmt::format("no option differs, but it was saved by tethys {}", step.identity().saved_by)
                      : changes);
}

}  // namespace

StepIdentity step_identity(const Config& config, const pjrt::Plugin& plugin, const std::string& topology,
                           const std::vector<pjrt::DeviceInfo>& devices) {
  StepIdentity identity;
  identity.platform = config.get_string("device.platform");
  identity.plugin = Path(plugin.path()).filename();
  identity.plugin_version = plugin.version();
  identity.topology = topology;
  identity.devices = pjrt::describe_devices(devices);
  identity.devices_key = pjrt::devices_key(devices);
  if (identity.platform == "cpu") identity.cpu = hash_hex(cpu_identity());
  for (const Option& option : config.options()) {
    if (!section_of(option).empty()) identity.options[option.name] = to_toml(config.value(option.name));
  }
  return identity;
}

void save_step(const Path& path, const StepIdentity& identity, std::string_view executable) {
  const std::string header = header_of(identity);
  Hasher hasher;
  hasher.update(std::as_bytes(std::span(header)));
  hasher.update(std::as_bytes(std::span(executable)));
  const std::string begin = std::string(kMagic) + hasher.hex() + header;
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(begin)));
  file.write(std::as_bytes(std::span(executable)));
  file.commit();
}

SavedStep::SavedStep(const Path& path) : path_(path), file_(path) {
  const std::string name = path.string();
  const std::string_view content(reinterpret_cast<const char*>(file_.bytes().data()), file_.bytes().size());
  const std::string_view body = checked_body(content, name);
  const size_t end = std::min(body.find('\n'), body.size());
  identity_ = parse_header(body.substr(0, end), name);
  executable_ = body.substr(std::min(end + 1, body.size()));
}

std::string SavedStep::describe() const {
  const std::string where =
      identity_.topology.empty() ? identity_.devices : fmt::format("{} ({})", identity_.topology, identity_.devices);
  return fmt::format("{}, saved from {} for {}", path_.string(), identity_.recipe, where);
}

SavedProgram saved_program(const std::shared_ptr<const SavedStep>& step, const Config& config,
                           const pjrt::Client& client) {
  const StepIdentity& saved = step->identity();
  const StepIdentity here = step_identity(config, *client.plugin(), "", client.devices());
  if (saved.platform != here.platform) {
    user_error("{} is of the platform {}, and {}", step->describe(), saved.platform, config.cite("device.platform"));
  }
  if (saved.plugin_version != here.plugin_version) {
    user_error(
        "{} was compiled by {} ({}), and this run's plugin {} is another version ({}): an executable loads in the "
        "version that made it; give that by --device.plugin PATH, or save it anew by `tethys compile --save`",
        step->describe(), saved.plugin, saved.plugin_version, client.plugin()->path(), here.plugin_version);
  }
  if (saved.devices_key != here.devices_key) {
    const bool alike = saved.devices == here.devices;
    user_error(
        "{} is for other devices than those here: {}{}; save it anew by `tethys compile --topology … --save` for "
        "these",
        step->describe(), here.devices, alike ? " with other numbers or in other places" : "");
  }
  if (saved.cpu != here.cpu) {
    user_error("{} was saved on a machine with another CPU, whose instructions it may use; save it anew on this one",
               step->describe());
  }
  return {saved.program, step->executable(), step, step->path().string(), said_of_another_program(*step, config)};
}

}  // namespace tethys
