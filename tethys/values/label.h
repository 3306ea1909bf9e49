// Labels: what a model is to say next, one per token.
#pragma once

#include <cstdint>

namespace tethys {

// A token that nothing is to be learnt from has this label: the last of a document, or one past the end of the text.
inline constexpr int32_t kIgnoredLabel = -100;

}  // namespace tethys
