// BackgroundSave: a save that goes on while the training does. At most one at a time; its error comes to whoever asks
// next. One thread uses it; the save runs on another.
//
//   BackgroundSave saving;
//   saving.start([=] { store.save(state, pieces, keep); });   // the pieces hold their bytes: see append_pieces
//   …steps…
//   if (saving.ended()) say("saved");     // throws what the save threw
//   saving.wait();                        // before the end
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <future>
#include <utility>

#include "base/error.h"

namespace tethys {

class BackgroundSave {
 public:
  // The one before must have been asked for.
  void start(std::function<void()> save) {
    require(!running(), "two saves at once");
    save_ = std::async(std::launch::async, [save = std::move(save)] {
      give_way();
      save();
    });
  }
  // Started, and not yet asked for.
  bool running() const { return save_.valid(); }
  // Whether it is done now; true once for each save.
  bool ended() {
    if (!running() || save_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return false;
    save_.get();
    return true;
  }
  // Until it is done; false if there is none.
  bool wait() {
    if (!running()) return false;
    save_.get();
    return true;
  }

 private:
  // Where host and device are the same cores, the steps come first. Of this thread and those that it starts.
  static void give_way() { ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), 10); }

  std::future<void> save_;  // waits at the end of its life
};

}  // namespace tethys
