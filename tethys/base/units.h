// Binary units of memory.
#pragma once

#include <cstdint>

namespace tethys {

inline constexpr int64_t kMiB = int64_t{1} << 20;
inline constexpr int64_t kGiB = int64_t{1} << 30;

// So many bytes in GiB, to be shown.
constexpr double gib(double bytes) { return bytes / static_cast<double>(kGiB); }
constexpr double gib(int64_t bytes) { return gib(static_cast<double>(bytes)); }

}  // namespace tethys
