// Names of Llama 3's parameters in Hugging Face's files.
#pragma once

#include <string>

namespace tethys {

// "layers.0.attention.wq.weight" → "model.layers.0.self_attn.q_proj.weight". InternalError for a name that is not
// Llama's.
std::string llama_hugging_face_name(const std::string& parameter);

}  // namespace tethys
