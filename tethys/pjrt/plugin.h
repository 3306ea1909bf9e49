// Plugin: a shared library that speaks the PJRT C API. Everything made from it keeps it alive by shared_ptr; a library
// is loaded once per process and never unloaded, since plugins keep threads of their own. Any thread may use it.
//
//   auto plugin = Plugin::load(".deps/plugins/xla_cpu.so");
//   Client client(plugin, {.device_count = 8});
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "pjrt/named_value.h"

struct PJRT_Api;
struct PJRT_Extension_Base;

namespace tethys::pjrt {

struct ApiVersion {
  int major = 0;
  int minor = 0;
  bool operator==(const ApiVersion&) const = default;
};

class Plugin {
 public:
  // UserError if the file is missing, is no shared library, is no PJRT plugin, or speaks another major version.
  static std::shared_ptr<const Plugin> load(const std::string& path);

  const std::string& path() const { return path_; }
  ApiVersion api_version() const;
  // One line that differs between builds of a plugin, for the key of what it compiled: "pjrt 0.115, stablehlo 1.20.0,
  // xla 2, 201600336 bytes". The C API has no build number, so the file's size stands for one.
  std::string version() const;

  // What the plugin says of itself; empty if it does not.
  const NamedValues& attributes() const { return attributes_; }
  // The StableHLO version that the plugin was built with, and the oldest whose serialized programs it reads.
  std::optional<std::array<int64_t, 3>> stablehlo_current_version() const;
  std::optional<std::array<int64_t, 3>> stablehlo_minimum_version() const;

  // The extension of this type (a PJRT_Extension_Type), or null.
  const PJRT_Extension_Base* find_extension(int type) const;

  const PJRT_Api* api() const { return api_; }

  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;

 private:
  Plugin(std::string path, const PJRT_Api* api) : path_(std::move(path)), api_(api) {}
  std::optional<std::array<int64_t, 3>> version_attribute(const std::string& name) const;

  std::string path_;
  const PJRT_Api* api_;
  NamedValues attributes_;
  uintmax_t file_size_ = 0;
};

}  // namespace tethys::pjrt
