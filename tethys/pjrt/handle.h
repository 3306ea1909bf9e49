// Handle<T>: sole ownership of one object of the C API. Destroying it calls the plugin's destroy function; moving
// leaves it null. It keeps the plugin alive and is counted in live_handles().
//
//   Handle<PJRT_Buffer> buffer = adopt(plugin, raw);
#pragma once

#include <memory>

struct PJRT_Client;
struct PJRT_Buffer;
struct PJRT_Event;
struct PJRT_Executable;
struct PJRT_LoadedExecutable;
struct PJRT_TopologyDescription;
struct PJRT_Error;

namespace tethys::pjrt {

class Plugin;

struct HandleDeleter {
  std::shared_ptr<const Plugin> plugin;

  void operator()(PJRT_Client* client) const;
  void operator()(PJRT_Buffer* buffer) const;
  void operator()(PJRT_Event* event) const;
  void operator()(PJRT_Executable* executable) const;
  void operator()(PJRT_LoadedExecutable* executable) const;
  void operator()(PJRT_TopologyDescription* topology) const;
  void operator()(PJRT_Error* error) const;
};

template <typename T>
using Handle = std::unique_ptr<T, HandleDeleter>;

// Takes ownership of what the plugin returned, and counts it.
Handle<PJRT_Client> adopt(std::shared_ptr<const Plugin> plugin, PJRT_Client* client);
Handle<PJRT_Buffer> adopt(std::shared_ptr<const Plugin> plugin, PJRT_Buffer* buffer);
Handle<PJRT_Event> adopt(std::shared_ptr<const Plugin> plugin, PJRT_Event* event);
Handle<PJRT_Executable> adopt(std::shared_ptr<const Plugin> plugin, PJRT_Executable* executable);
Handle<PJRT_LoadedExecutable> adopt(std::shared_ptr<const Plugin> plugin, PJRT_LoadedExecutable* executable);
Handle<PJRT_TopologyDescription> adopt(std::shared_ptr<const Plugin> plugin, PJRT_TopologyDescription* topology);
Handle<PJRT_Error> adopt(std::shared_ptr<const Plugin> plugin, PJRT_Error* error);

}  // namespace tethys::pjrt
