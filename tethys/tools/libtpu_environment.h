// What libtpu reads of the environment when it is loaded, for a machine without a TPU.
#pragma once

namespace tethys {

// Sets what is not set: without it libtpu asks a server of the cloud's, for minutes, and warns of what is not there.
// Called before it is loaded, while the process has one thread.
void set_libtpu_environment();

}  // namespace tethys
