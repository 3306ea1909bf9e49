#include "tools/doctor/checks.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "base/error.h"
#include "base/units.h"
#include "config/config.h"
#include "config/option_table.h"
#include "config/recipe.h"
#include "data/sources/parquet.h"
#include "pjrt/buffer.h"
#include "pjrt/executable.h"
#include "runtime/host_memory.h"
#include "runtime/program_cache.h"
#include "tools/locations.h"
#include "tools/probe.h"

namespace tethys {
namespace {

using State = Finding::State;

// The value of a line "key : value" of a file under /proc.
std::string proc_value(const char* path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const size_t colon = line.find(':');
    const size_t begin = colon == std::string::npos ? colon : line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

// Loads the plugin, makes a client and adds two numbers on its first device.
std::string use_plugin(const Path& path) {
  const auto plugin = pjrt::Plugin::load(path.string());
  const pjrt::Client client(plugin);
  const pjrt::LoadedExecutable sum = client.compile(
      "module @sum {\n"
      "  func.func public @main(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {\n"
      "    %c = stablehlo.add %a, %b : tensor<f32>\n"
      "    return %c : tensor<f32>\n"
      "  }\n"
      "}\n");
  const pjrt::Buffer one = pjrt::Buffer::from_host(client, HostTensor::scalar(1.0F));
  const pjrt::Buffer two = pjrt::Buffer::from_host(client, HostTensor::scalar(2.0F));
  std::vector<std::vector<pjrt::Argument>> arguments(1);
  arguments[0].emplace_back(one);
  arguments[0].emplace_back(two);
  const auto results = sum.execute(arguments);
  const float result = results.at(0).at(0).to_host().as<float>()[0];
  if (result != 3.0F) user_error("1 + 2 was {} on its first device", result);
  return fmt::format("{}, {} {}, {}", client.platform_name(), client.devices().size(),
                     client.devices().size() == 1 ? "device" : "devices", plugin->version());
}

}  // namespace

Finding check_cpu() {
  const std::string flags = " " + proc_value("/proc/cpuinfo", "flags") + " ";
  std::string known;
  for (const char* feature : {"avx2", "fma", "avx512f", "avx512_bf16", "amx_tile", "amx_bf16"}) {
    if (flags.find(fmt::format(" {} ", feature)) != std::string::npos) known += fmt::format(" {}", feature);
  }
  return {State::Ok, "cpu",
          fmt::format("{}, {} threads,{}", proc_value("/proc/cpuinfo", "model name"),
                      std::thread::hardware_concurrency(), known.empty() ? " no vector extensions known" : known),
          ""};
}

Finding check_memory() {
  const double total = gib(physical_memory());
  const std::string available = proc_value("/proc/meminfo", "MemAvailable");  // "123 kB"
  const double free = available.empty() ? total : gib(std::stod(available) * 1024);
  return {free < 4 ? State::Note : State::Ok, "memory",
          fmt::format("{:.1f} GiB, {:.1f} of them available", total, free), ""};
}

Finding check_recipes(const Path& executable) {
  try {
    const Path folder = recipes_folder(executable);
    return {State::Ok, "recipes", fmt::format("{} in {}", recipe_names(folder).size(), folder.string()), ""};
  } catch (const UserError& error) {
    return {State::Fault, "recipes", error.what(),
            "run build/release/tethys from where it was built, or copy recipes/ beside the program"};
  }
}

Finding check_cache(const Path& folder) {
  const Path probe = folder / fmt::format(".doctor-{}", ::getpid());
  try {
    make_directories(folder);
    write_file(probe, "x");
    remove_path(probe);
    return {State::Ok, "cache", folder.string(), ""};
  } catch (const std::exception& error) {
    return {State::Fault, "cache", error.what(),
            fmt::format("make {} a folder that you may write to, or set XDG_CACHE_HOME to one", folder.string())};
  }
}

Finding check_disk(const Path& folder) {
  std::error_code error;
  const std::filesystem::space_info space = std::filesystem::space(folder, error);
  if (error) return {State::Note, "disk", fmt::format("{}: {}", folder.string(), error.message()), ""};
  const double free = gib(static_cast<double>(space.available));
  const std::string detail = fmt::format("{:.1f} GiB free at {}", free, folder.string());
  if (free < 0.25) {
    return {State::Fault, "disk", detail, "free some space, or give --output a folder on another disk"};
  }
  return {free < 8 ? State::Note : State::Ok, "disk", detail, ""};
}

Finding check_parquet(const std::string& reader) {
  try {
    return {State::Ok, "parquet", parquet_component(reader), ""};
  } catch (const UserError& error) {
    std::error_code ignored;
    if (!std::filesystem::exists(reader, ignored)) return {State::Note, "parquet", error.what(), ""};
    return {State::Fault, "parquet", error.what(),
            fmt::format("build it anew by `make parquet`, or remove {} if you read no Parquet", reader)};
  }
}

Finding check_plugin(const Path& plugin, const std::string& xla_flags, const std::string& fix) {
  constexpr std::chrono::seconds kLimit(60);
  const Probed probed = probe([&] { return use_plugin(plugin); }, kLimit);
  std::error_code ignored;
  const Path target = std::filesystem::read_symlink(plugin, ignored);
  const std::string name = target.empty() ? plugin.string() : fmt::format("{} -> {}", plugin.string(), target.string());
  if (probed.result) return {State::Ok, "plugin", fmt::format("{}: {}", name, *probed.result), ""};
  return {State::Fault, "plugin", fmt::format("{}: {}", name, probed.trouble),
          xla_flags.empty() ? fix : fmt::format("unset XLA_FLAGS, which is '{}', and try again", shown(xla_flags))};
}

Finding check_libtpu(const Path& libtpu) {
  if (libtpu.empty()) {
    return {State::Note, "tpu", "`make setup-tpu` installs libtpu, which `tethys compile` and TPUs need", ""};
  }
  return {State::Note, "tpu",
          fmt::format("{}: `tethys compile` takes it; where there is a TPU, tethys doctor --plugin tries it",
                      libtpu.string()),
          ""};
}

std::vector<Finding> check_plugins(const Path& executable, const std::string& xla_flags) {
  Path used;
  try {
    used = plugin_path(Config(with_training_options({})), executable);
  } catch (const UserError& error) {
    return {{State::Fault, "plugin", error.what(), "run `make setup`"}};
  }
  const std::string fix = "run `rm .deps/stamp` and `make setup`, which downloads it again";
  std::vector<Finding> findings = {check_plugin(used, xla_flags, fix)};
  std::vector<Path> others;
  std::error_code ignored;
  for (std::filesystem::directory_iterator entry(used.parent_path(), ignored), end; !ignored && entry != end;
       entry.increment(ignored)) {
    std::error_code dangling;
    const bool same = std::filesystem::equivalent(entry->path(), used, dangling);
    const bool needs_device = entry->path().filename() == "libtpu.so";
    if (entry->path().extension() == ".so" && !same && !needs_device) others.push_back(entry->path());
  }
  std::sort(others.begin(), others.end());
  for (const Path& other : others) {
    findings.push_back(check_plugin(other, xla_flags, fix));
    if (findings.back().state == State::Fault) findings.back().state = State::Note;
  }
  return findings;
}

}  // namespace tethys
