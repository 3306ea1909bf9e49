// Event: work that the plugin does on its own threads. No event is dropped: destroying one waits for it first, so that
// memory it writes to may be freed afterwards; its error is then lost, so wait for what matters with await().
#pragma once

#include <functional>
#include <vector>

#include "pjrt/handle.h"

namespace tethys::pjrt {

class Event {
 public:
  // Of work that is done already.
  Event() = default;
  explicit Event(Handle<PJRT_Event> handle) : handle_(std::move(handle)) {}
  Event(Event&&) = default;
  Event& operator=(Event&& other);
  ~Event();

  bool ready() const;
  // Calls `done` once, when the work is done or has failed: at once, or on a thread of the plugin's.
  void on_ready(std::function<void()> done) const;
  // Blocks until the work is done and frees the event. PjrtError if the work failed.
  void await();

 private:
  Handle<PJRT_Event> handle_;
};

// Waits for all of them, frees all, then throws the first error if there was one. Leaves the list empty.
void await_all(std::vector<Event>& events);

}  // namespace tethys::pjrt
