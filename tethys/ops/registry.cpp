#include "ops/registry.h"

namespace tethys {

std::span<const OpRecord* const> all_ops() {
#define TETHYS_RECORD(name) &name##_op,
  static constexpr const OpRecord* kOps[] = {TETHYS_OPS(TETHYS_RECORD, TETHYS_RECORD, TETHYS_RECORD)};
#undef TETHYS_RECORD
  return kOps;
}

const OpRecord& find_op(std::string_view name) {
  for (const OpRecord* op : all_ops()) {
    if (op->name == name) return *op;
  }
  internal_error("there is no op '{}'", name);
}

}  // namespace tethys
