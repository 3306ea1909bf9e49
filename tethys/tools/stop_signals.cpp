#include "tools/stop_signals.h"

#include <csignal>

#include "tools/standard_error.h"

namespace tethys {
namespace {

constexpr int kStopSignals[] = {SIGTERM, SIGINT, SIGHUP};

volatile std::sig_atomic_t came = 0;

void set_action(void (*handler)(int), int flags) {
  for (int number : kStopSignals) {
    struct sigaction action = {};
    ::sigaction(number, nullptr, &action);
    if (action.sa_handler == SIG_IGN) continue;
    action = {};
    action.sa_handler = handler;
    action.sa_flags = flags;
    ::sigaction(number, &action, nullptr);
  }
}

// The signal comes again when the handler returns, and then ends the process. A handler cannot format.
void say_and_end(int number) {
  tell(number == SIGTERM  ? "tethys: stopped by signal 15 before the first step"
       : number == SIGINT ? "tethys: stopped by signal 2 before the first step"
                          : "tethys: stopped by signal 1 before the first step");
  ::raise(number);
}

}  // namespace

void catch_stop_signals() {
  set_action([](int number) { came = number; }, static_cast<int>(SA_RESETHAND));
}

void release_stop_signals() {
  set_action(say_and_end, static_cast<int>(SA_RESETHAND));
  if (came != 0) ::raise(came);
}

int stop_signal() { return came; }

}  // namespace tethys
