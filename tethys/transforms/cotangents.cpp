#include "transforms/cotangents.h"

#include "ops/elementwise/convert.h"
#include "ops/registry.h"

namespace tethys {

void CotangentMap::add(const Value& value, const Value& cotangent) {
  const auto [found, first] = cotangents_.try_emplace(value.id, cotangent);
  if (first) return;
  const DType dtype = promote(found->second.dtype(), cotangent.dtype());
  found->second = tethys::add(convert(found->second, dtype), convert(cotangent, dtype));
}

std::optional<Value> CotangentMap::find(const Value& value) const {
  const auto found = cotangents_.find(value.id);
  if (found == cotangents_.end()) return std::nullopt;
  return found->second;
}

}  // namespace tethys
