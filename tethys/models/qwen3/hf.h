// Qwen3 as Hugging Face names it.
#pragma once

#include "models/hugging_face.h"

namespace tethys {

const HuggingFaceModel& qwen3_hugging_face();
const HuggingFaceModel& qwen3_moe_hugging_face();  // with experts

}  // namespace tethys
