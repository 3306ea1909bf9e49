#include "tools/libtpu_environment.h"

#include <cstdlib>
#include <utility>

namespace tethys {

void set_libtpu_environment() {
  constexpr std::pair<const char*, const char*> kSettings[] = {
      {"TPU_SKIP_MDS_QUERY", "1"},          // the server that knows a machine's TPUs
      {"ALLOW_MULTIPLE_LIBTPU_LOAD", "1"},  // several compilers at once, which no device is shared by
      {"TPU_LOG_DIR", "disabled"},
      // A topology is named for every compile; these only keep it from warning.
      {"TPU_ACCELERATOR_TYPE", "v6e-4"},
      {"TPU_WORKER_HOSTNAMES", "localhost"},
      {"TPU_WORKER_ID", "0"}};
  for (const auto& [name, value] : kSettings) ::setenv(name, value, /*overwrite=*/0);
}

}  // namespace tethys
