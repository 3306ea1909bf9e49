// Llama 3 as Hugging Face names it. RoPE turns halves there too, so no row of a weight is moved.
#pragma once

#include "models/hugging_face.h"

namespace tethys {

const HuggingFaceModel& llama_hugging_face();

}  // namespace tethys
