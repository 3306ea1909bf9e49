#include "runtime/tracer.h"

#include <algorithm>

namespace tethys {

int64_t Tracer::track_locked(const std::string& name) {
  const auto next = static_cast<int64_t>(recorded_.threads.size());
  const auto [found, fresh] = tracks_.try_emplace({std::this_thread::get_id(), name}, next);
  if (fresh) recorded_.threads.push_back(name);
  return found->second;
}

// A thread that has ended may have left its number to another, so the name decides too.
void Tracer::name_thread(const std::string& name) { track_of_thread(name); }

int64_t Tracer::begin_span() {
  const std::lock_guard lock(mutex_);
  ++open_;
  const auto known = track_of_.find(std::this_thread::get_id());
  return known == track_of_.end() ? track_locked("other") : known->second;
}

int64_t Tracer::track_of_thread(const std::string& name) {
  const std::lock_guard lock(mutex_);
  return track_of_[std::this_thread::get_id()] = track_locked(name);
}

void Tracer::end_span(TraceEvent event) {
  const std::lock_guard lock(mutex_);
  add_locked(std::move(event));
  if (--open_ == 0) ended_.notify_all();
}

void Tracer::add_locked(TraceEvent event) {
  if (recorded_.events.size() < most_events_) {
    recorded_.events.push_back(std::move(event));
  } else {
    ++recorded_.dropped;
  }
}

std::function<void()> Tracer::device_run(int64_t device, const std::string& name, Clock::time_point launched) {
  {
    const std::lock_guard lock(mutex_);
    ++open_;
  }
  return [self = shared_from_this(), device, name, launched] {
    TraceEvent event{TraceEvent::Kind::Device, device, name, launched, Clock::now(), {}};
    const std::lock_guard lock(self->mutex_);
    // A device runs one program after the other, in the order in which they were handed to it.
    Clock::time_point& free = self->device_free_[device];
    event.begin = std::max(event.begin, free);
    free = event.end = std::max(event.end, event.begin);
    self->add_locked(std::move(event));
    if (--self->open_ == 0) self->ended_.notify_all();
  };
}

void Tracer::moment(std::string name, Clock::time_point at) {
  if (!recording()) return;
  const std::lock_guard lock(mutex_);
  add_locked({TraceEvent::Kind::Moment, 0, std::move(name), at, at, {}});
}

void Tracer::counter(std::string name, int64_t value) {
  if (!recording()) return;
  const Clock::time_point now = Clock::now();
  const std::lock_guard lock(mutex_);
  add_locked({TraceEvent::Kind::Counter, 0, std::move(name), now, now, {"bytes", value}});
}

bool Tracer::settled(std::chrono::milliseconds most) {
  std::unique_lock lock(mutex_);
  return ended_.wait_for(lock, most, [this] { return open_ == 0; });
}

Tracer::Recorded Tracer::take() {
  const std::lock_guard lock(mutex_);
  Recorded taken = std::move(recorded_);
  recorded_ = {.origin = taken.origin, .threads = taken.threads, .events = {}, .dropped = 0};
  return taken;
}

void Span::move_to(const std::string& thread) {
  if (tracer_ == nullptr) return;
  track_ = tracer_->track_of_thread(thread);
  begin_ = Clock::now();
}

void Span::end() {
  if (tracer_ == nullptr) return;
  const Clock::time_point end = Clock::now();
  std::string name(name_);
  if (!detail_.empty()) name.append(" ").append(detail_);
  std::exchange(tracer_, nullptr)->end_span({TraceEvent::Kind::Span, track_, std::move(name), begin_, end, number_});
}

}  // namespace tethys
