#include "pjrt/plugin.h"

#include <dlfcn.h>

#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>

#include "base/library_file.h"
#include "pjrt/call.h"
#include "pjrt/named_value_c.h"

namespace tethys::pjrt {
namespace {

constexpr const char* kFix =
    "`make setup` downloads the CPU plugins into .deps/plugins; --device.plugin PATH picks another";

const PJRT_Api* open_api(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_other(std::filesystem::status(path, ignored))) {  // it may be waited for without an end
    user_error("{} is a device, pipe or socket: expected a shared library; {}", path, kFix);
  }
  if (is_cut_short(path)) user_error("{} is cut short: a shared library whose end is missing; {}", path, kFix);
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) user_error("{} is no loadable shared library: {}; {}", path, dlerror(), kFix);
  const auto get = reinterpret_cast<const PJRT_Api* (*)()>(dlsym(library, "GetPjrtApi"));
  if (get == nullptr) {
    dlclose(library);
    user_error("{} is a shared library but no PJRT plugin: it has no function GetPjrtApi; {}", path, kFix);
  }
  const PJRT_Api* api = get();
  if (api == nullptr) user_error("the PJRT plugin {} offers no API on this machine; {}", path, kFix);
  const int major = api->pjrt_api_version.major_version;
  if (major != PJRT_API_MAJOR) {
    user_error("the PJRT plugin {} speaks API {}.{}, expected {}.x; {}", path, major,
               api->pjrt_api_version.minor_version, PJRT_API_MAJOR, kFix);
  }
  return api;
}

}  // namespace

std::shared_ptr<const Plugin> Plugin::load(const std::string& path) {
  std::error_code error;
  const std::string key = std::filesystem::canonical(path, error).string();
  if (error) user_error("no PJRT plugin at {}: {}; {}", path, error.message(), kFix);

  static std::mutex mutex;
  static auto* const loaded = new std::map<std::string, std::shared_ptr<const Plugin>>();
  const std::lock_guard lock(mutex);
  if (const auto found = loaded->find(key); found != loaded->end()) return found->second;

  const std::shared_ptr<Plugin> plugin(new Plugin(path, open_api(key)));
  call(plugin, TETHYS_PJRT(PJRT_Plugin_Initialize));
  if (has_function(plugin->api(), TETHYS_PJRT(PJRT_Plugin_Attributes))) {
    const auto args = call(plugin, TETHYS_PJRT(PJRT_Plugin_Attributes));
    plugin->attributes_ = from_c(args.attributes, args.num_attributes);
  }
  plugin->file_size_ = std::filesystem::file_size(key, error);
  loaded->emplace(key, plugin);
  return plugin;
}

ApiVersion Plugin::api_version() const {
  return {api_->pjrt_api_version.major_version, api_->pjrt_api_version.minor_version};
}

std::string Plugin::version() const {
  std::string out = fmt::format("pjrt {}.{}", api_version().major, api_version().minor);
  if (const auto v = stablehlo_current_version()) out += fmt::format(", stablehlo {}.{}.{}", (*v)[0], (*v)[1], (*v)[2]);
  if (const auto xla = attributes_.find("xla_version"); xla != attributes_.end()) {
    if (const auto* number = std::get_if<int64_t>(&xla->second)) out += fmt::format(", xla {}", *number);
  }
  return out + fmt::format(", {} bytes", file_size_);
}

std::optional<std::array<int64_t, 3>> Plugin::version_attribute(const std::string& name) const {
  const auto found = attributes_.find(name);
  if (found == attributes_.end()) return std::nullopt;
  const auto* list = std::get_if<std::vector<int64_t>>(&found->second);
  if (list == nullptr || list->size() != 3) return std::nullopt;
  return std::array<int64_t, 3>{(*list)[0], (*list)[1], (*list)[2]};
}

std::optional<std::array<int64_t, 3>> Plugin::stablehlo_current_version() const {
  return version_attribute("stablehlo_current_version");
}

std::optional<std::array<int64_t, 3>> Plugin::stablehlo_minimum_version() const {
  return version_attribute("stablehlo_minimum_version");
}

const PJRT_Extension_Base* Plugin::find_extension(int type) const {
  for (const PJRT_Extension_Base* e = api_->extension_start; e != nullptr; e = e->next) {
    // A newer plugin has types that our enum does not know, and loading such a value as the enum is undefined.
    int own = 0;
    static_assert(sizeof(own) == sizeof(e->type));
    std::memcpy(&own, &e->type, sizeof(own));
    if (own == type) return e;
  }
  return nullptr;
}

}  // namespace tethys::pjrt
