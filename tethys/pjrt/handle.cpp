#include "pjrt/handle.h"

#include <fmt/core.h>

#include <atomic>
#include <utility>

#include "pjrt/call.h"
#include "pjrt/live_handles.h"

namespace tethys::pjrt {
namespace {

struct Counts {
  std::atomic<int64_t> clients{0}, buffers{0}, events{0}, executables{0}, topologies{0}, errors{0};
};
Counts g_counts;

template <typename T>
Handle<T> counted(std::shared_ptr<const Plugin> plugin, T* object, std::atomic<int64_t>& count) {
  if (object != nullptr) ++count;
  return Handle<T>(object, HandleDeleter{std::move(plugin)});
}

// A destructor has nobody to tell of an error, so what the destroy function reports is freed unread.
template <typename Args, typename Fill>
void destroy(const std::shared_ptr<const Plugin>& plugin, const Function<PJRT_Error*, Args>& function, Fill&& fill,
             std::atomic<int64_t>& count) {
  Args args{};
  args.struct_size = function.args_size;
  fill(args);
  adopt(plugin, (plugin->api()->*function.member)(&args));
  --count;
}

}  // namespace

void HandleDeleter::operator()(PJRT_Client* client) const {
  destroy(
      plugin, TETHYS_PJRT(PJRT_Client_Destroy), [&](auto& a) { a.client = client; }, g_counts.clients);
}
void HandleDeleter::operator()(PJRT_Buffer* buffer) const {
  destroy(
      plugin, TETHYS_PJRT(PJRT_Buffer_Destroy), [&](auto& a) { a.buffer = buffer; }, g_counts.buffers);
}
void HandleDeleter::operator()(PJRT_Event* event) const {
  destroy(
      plugin, TETHYS_PJRT(PJRT_Event_Destroy), [&](auto& a) { a.event = event; }, g_counts.events);
}
void HandleDeleter::operator()(PJRT_Executable* executable) const {
  destroy(
      plugin, TETHYS_PJRT(PJRT_Executable_Destroy), [&](auto& a) { a.executable = executable; }, g_counts.executables);
}
void HandleDeleter::operator()(PJRT_LoadedExecutable* executable) const {
  destroy(
      plugin, TETHYS_PJRT(PJRT_LoadedExecutable_Destroy), [&](auto& a) { a.executable = executable; },
      g_counts.executables);
}
void HandleDeleter::operator()(PJRT_TopologyDescription* topology) const {
  destroy(
      plugin, TETHYS_PJRT(PJRT_TopologyDescription_Destroy), [&](auto& a) { a.topology = topology; },
      g_counts.topologies);
}
void HandleDeleter::operator()(PJRT_Error* error) const {
  call(plugin, TETHYS_PJRT(PJRT_Error_Destroy), [&](auto& a) { a.error = error; });
  --g_counts.errors;
}

Handle<PJRT_Client> adopt(std::shared_ptr<const Plugin> plugin, PJRT_Client* client) {
  return counted(std::move(plugin), client, g_counts.clients);
}
Handle<PJRT_Buffer> adopt(std::shared_ptr<const Plugin> plugin, PJRT_Buffer* buffer) {
  return counted(std::move(plugin), buffer, g_counts.buffers);
}
Handle<PJRT_Event> adopt(std::shared_ptr<const Plugin> plugin, PJRT_Event* event) {
  return counted(std::move(plugin), event, g_counts.events);
}
Handle<PJRT_Executable> adopt(std::shared_ptr<const Plugin> plugin, PJRT_Executable* executable) {
  return counted(std::move(plugin), executable, g_counts.executables);
}
Handle<PJRT_LoadedExecutable> adopt(std::shared_ptr<const Plugin> plugin, PJRT_LoadedExecutable* executable) {
  return counted(std::move(plugin), executable, g_counts.executables);
}
Handle<PJRT_TopologyDescription> adopt(std::shared_ptr<const Plugin> plugin, PJRT_TopologyDescription* topology) {
  return counted(std::move(plugin), topology, g_counts.topologies);
}
Handle<PJRT_Error> adopt(std::shared_ptr<const Plugin> plugin, PJRT_Error* error) {
  return counted(std::move(plugin), error, g_counts.errors);
}

LiveHandles live_handles() {
  return {g_counts.clients,     g_counts.buffers,    g_counts.events,
          g_counts.executables, g_counts.topologies, g_counts.errors};
}

std::string to_string(const LiveHandles& h) {
  return fmt::format("clients {}, buffers {}, events {}, executables {}, topologies {}, errors {}", h.clients,
                     h.buffers, h.events, h.executables, h.topologies, h.errors);
}

}  // namespace tethys::pjrt
