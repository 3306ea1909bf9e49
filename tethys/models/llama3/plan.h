#pragma once

#include "nn/plan.h"

namespace tethys {

// A transformer's.
Plan llama_plan(const PlanOptions& options);

}  // namespace tethys
