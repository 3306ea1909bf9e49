// Ledger: what of a device's memory Arrays hold, by memory space and by what it is for, and the peak with the
// temporaries of programs. Our own count: CPU plugins do not measure, and what we did not make is not in it. Bytes are
// summed over the devices of this process. Any thread may use it.
//
//   ledger.live(pjrt::MemoryKind::Default, ArrayKind::Parameter);   // now
//   ledger.peak();                                                  // the most so far
#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <mutex>
#include <string_view>

#include "pjrt/client.h"

namespace tethys {

// What an Array is for. The results of a program that take over a donated argument keep its kind.
enum class ArrayKind : uint8_t { Parameter, Optimizer, Input, Result, Residual };
inline constexpr ArrayKind kAllArrayKinds[] = {ArrayKind::Parameter, ArrayKind::Optimizer, ArrayKind::Input,
                                               ArrayKind::Result, ArrayKind::Residual};
// "parameter", "optimizer", "input", "result", "residual"
std::string_view name_of(ArrayKind kind);

class Ledger {
 public:
  void add(pjrt::MemoryKind space, ArrayKind kind, int64_t bytes);
  void remove(pjrt::MemoryKind space, ArrayKind kind, int64_t bytes) { add(space, kind, -bytes); }
  // A program runs that needs `bytes` of device memory besides what is live.
  void run(int64_t bytes);

  int64_t live(pjrt::MemoryKind space, ArrayKind kind) const;
  // Of all kinds.
  int64_t live(pjrt::MemoryKind space) const;
  // The most that arrays of a kind have been at a time.
  int64_t peak(pjrt::MemoryKind space, ArrayKind kind) const;
  // The most that the device's own memory held, temporaries included.
  int64_t peak() const;

 private:
  int64_t live_locked(pjrt::MemoryKind space) const;

  mutable std::mutex mutex_;
  using Table = std::array<std::array<int64_t, std::size(kAllArrayKinds)>, 4>;  // [space][kind]
  Table bytes_{}, peaks_{};
  int64_t peak_ = 0;
};

}  // namespace tethys
