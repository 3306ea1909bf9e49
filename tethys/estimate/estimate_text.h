// The estimate of a step as text and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "estimate/step_report.h"

namespace tethys {

// Collectives by mesh axis, cycles by op and by module, and what there is no estimate of.
std::string estimate_text(const StepReport& report);

nlohmann::ordered_json estimate_json(const StepReport& report);

}  // namespace tethys
