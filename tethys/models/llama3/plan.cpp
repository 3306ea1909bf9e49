#include "models/llama3/plan.h"

#include "models/transformer_plan.h"

namespace tethys {

Plan llama_plan(const PlanOptions& options) { return transformer_plan(options); }

}  // namespace tethys
