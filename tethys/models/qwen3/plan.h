#pragma once

#include "nn/plan.h"

namespace tethys {

// A transformer's: the norms of queries and keys are whole, each for the heads of its rank.
Plan qwen3_plan(const PlanOptions& options);
Plan qwen3_moe_plan(const PlanOptions& options);

}  // namespace tethys
