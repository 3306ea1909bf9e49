#include "pjrt/event.h"

#include <exception>
#include <utility>

#include "pjrt/call.h"

namespace tethys::pjrt {

Event& Event::operator=(Event&& other) {
  std::swap(handle_, other.handle_);
  Event dropped(std::move(other));
  return *this;
}

Event::~Event() {
  if (handle_ == nullptr) return;
  PJRT_Event_Await_Args args{};
  args.struct_size = PJRT_Event_Await_Args_STRUCT_SIZE;
  args.event = handle_.get();
  const std::shared_ptr<const Plugin>& plugin = handle_.get_deleter().plugin;
  adopt(plugin, plugin->api()->PJRT_Event_Await(&args));
}

bool Event::ready() const {
  if (handle_ == nullptr) return true;
  return call(handle_.get_deleter().plugin, TETHYS_PJRT(PJRT_Event_IsReady), [&](auto& a) { a.event = handle_.get(); })
      .is_ready;
}

void Event::on_ready(std::function<void()> done) const {
  if (handle_ == nullptr) return done();
  struct Callback {
    std::shared_ptr<const Plugin> plugin;
    std::function<void()> done;
  };
  auto callback = std::make_unique<Callback>(Callback{handle_.get_deleter().plugin, std::move(done)});
  call(callback->plugin, TETHYS_PJRT(PJRT_Event_OnReady), [&](auto& a) {
    a.event = handle_.get();
    a.user_arg = callback.get();
    a.callback = [](PJRT_Error* error, void* argument) {
      const std::unique_ptr<Callback> own(static_cast<Callback*>(argument));
      adopt(own->plugin, error);
      own->done();
    };
  });
  callback.release();  // the plugin has it, and may have called it
}

void Event::await() {
  const Handle<PJRT_Event> handle = std::move(handle_);
  if (handle == nullptr) return;
  call(handle.get_deleter().plugin, TETHYS_PJRT(PJRT_Event_Await), [&](auto& a) { a.event = handle.get(); });
}

void await_all(std::vector<Event>& events) {
  std::exception_ptr first;
  for (Event& event : events) {
    try {
      event.await();
    } catch (const PjrtError&) {
      if (!first) first = std::current_exception();
    }
  }
  events.clear();
  if (first) std::rethrow_exception(first);
}

}  // namespace tethys::pjrt
