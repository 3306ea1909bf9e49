#include "kernels/choices.h"

#include <string>

#include "config/config.h"
#include "config/kernel_choices.h"

namespace tethys {

namespace kernel_choices {
#define TETHYS_DECLARE(part, choice) Override part##_##choice(const Config& config);
TETHYS_KERNEL_CHOICES(TETHYS_DECLARE)
#undef TETHYS_DECLARE
}  // namespace kernel_choices

namespace {

struct Choice {
  std::string option, value;
  Override (*override_of)(const Config& config);
};

const std::vector<Choice>& choices() {
#define TETHYS_CHOICE(part, choice) {"kernels." #part, #choice, kernel_choices::part##_##choice},
  static const std::vector<Choice> all = {TETHYS_KERNEL_CHOICES(TETHYS_CHOICE)};
#undef TETHYS_CHOICE
  return all;
}

}  // namespace

std::vector<Override> kernel_overrides(const Config& config) {
  std::vector<Override> overrides;
  for (const Choice& choice : choices()) {
    if (config.get_string(choice.option) != choice.value) continue;
    overrides.push_back(choice.override_of(config));
    overrides.back().name = config.cite(choice.option);
  }
  return overrides;
}

}  // namespace tethys
