#include "train/generation_fit.h"

#include <fmt/format.h>

#include "config/config.h"

namespace tethys {
namespace {

double gib(int64_t bytes) { return static_cast<double>(bytes) / (1 << 30); }

}  // namespace

void check_generation_fits(const GenerationPrograms& programs, int64_t physical, int64_t length, const Config& config) {
  if (programs.bytes() <= physical) return;
  throw DoesNotFitError(fmt::format(
      "a text of {} tokens needs {:.1f} GiB ({:.1f} of parameters and cache), and this machine has {:.1f} "
      "GiB of memory; take a shorter prompt or lower {}",
      length, gib(programs.bytes()), gib(programs.decode->memory().arguments), gib(physical), config.cite("length")));
}

}  // namespace tethys
