#include "ops/registry.h"

namespace tethys {

std::span<const OpRecord* const> all_ops() {
#define TETHYS_RECORD(name) &name##_op,
  static constexpr const OpRecord* kOps[] = {TETHYS_OPS(TETHYS_RECORD, TETHYS_RECORD, TETHYS_RECORD)};
#undef TETHYS_RECORD
  return kOps;
}

}  // namespace tethys
