// SIGTERM, SIGINT and SIGHUP ask a run to stop: the first is remembered, a second one ends the process at once. One
// that the process was told to ignore (nohup) stays ignored.
//
//   catch_stop_signals();
//   while (stop_signal() == 0) { …a step… }
//   save();
#pragma once

namespace tethys {

void catch_stop_signals();

// From now on such a signal ends the process at once, as one that came before does now, and says so on standard error.
void release_stop_signals();

// The number of the one that came; 0 if none did.
int stop_signal();

}  // namespace tethys
