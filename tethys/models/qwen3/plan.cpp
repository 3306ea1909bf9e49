#include "models/qwen3/plan.h"

#include "models/transformer_plan.h"

namespace tethys {

Plan qwen3_plan(const PlanOptions& options) { return transformer_plan(options); }

Plan qwen3_moe_plan(const PlanOptions& options) { return moe_transformer_plan(options); }

}  // namespace tethys
