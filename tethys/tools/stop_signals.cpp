#include "tools/stop_signals.h"

#include <csignal>

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

}  // namespace

void catch_stop_signals() {
  set_action([](int number) { came = number; }, static_cast<int>(SA_RESETHAND));
}

void release_stop_signals() {
  set_action(SIG_DFL, 0);
  if (came != 0) ::raise(came);
}

int stop_signal() { return came; }

}  // namespace tethys
