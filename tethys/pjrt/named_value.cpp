#include "pjrt/named_value.h"

#include "base/error.h"
#include "pjrt/named_value_c.h"

namespace tethys::pjrt {
namespace {

NamedValue from_c(const PJRT_NamedValue& value) {
  switch (value.type) {
    case PJRT_NamedValue_kString: return std::string(value.string_value, value.value_size);
    case PJRT_NamedValue_kInt64: return value.int64_value;
    case PJRT_NamedValue_kInt64List:
      return std::vector<int64_t>(value.int64_array_value, value.int64_array_value + value.value_size);
    case PJRT_NamedValue_kFloat: return value.float_value;
    case PJRT_NamedValue_kBool: return value.bool_value;
  }
  internal_error("a named value of the unknown type {}", static_cast<int>(value.type));
}

struct Fill {
  PJRT_NamedValue& out;

  void operator()(const std::string& s) const {
    out.type = PJRT_NamedValue_kString;
    out.string_value = s.data();
    out.value_size = s.size();
  }
  void operator()(int64_t i) const {
    out.type = PJRT_NamedValue_kInt64;
    out.int64_value = i;
  }
  void operator()(const std::vector<int64_t>& list) const {
    out.type = PJRT_NamedValue_kInt64List;
    out.int64_array_value = list.data();
    out.value_size = list.size();
  }
  void operator()(float f) const {
    out.type = PJRT_NamedValue_kFloat;
    out.float_value = f;
  }
  void operator()(bool b) const {
    out.type = PJRT_NamedValue_kBool;
    out.bool_value = b;
  }
};

}  // namespace

NamedValues from_c(const PJRT_NamedValue* values, size_t count) {
  NamedValues out;
  for (size_t i = 0; i < count; ++i) out.emplace(std::string(values[i].name, values[i].name_size), from_c(values[i]));
  return out;
}

std::vector<PJRT_NamedValue> to_c(const NamedValues& values) {
  std::vector<PJRT_NamedValue> out;
  out.reserve(values.size());
  for (const auto& [name, value] : values) {
    PJRT_NamedValue& c = out.emplace_back();
    c.struct_size = PJRT_NamedValue_STRUCT_SIZE;
    c.name = name.data();
    c.name_size = name.size();
    c.value_size = 1;
    std::visit(Fill{c}, value);
  }
  return out;
}

}  // namespace tethys::pjrt
