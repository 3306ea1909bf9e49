#include "stablehlo/writer.h"

#include <fmt/ranges.h>

#include <bit>
#include <cmath>
#include <limits>

namespace tethys::stablehlo {
namespace {

std::string join_names(const std::vector<Ssa>& values) {
  std::string text;
  for (const Ssa& v : values) text += (text.empty() ? "" : ", ") + v.name;
  return text;
}

std::string join_types(const std::vector<TensorType>& types) {
  std::string text;
  for (const TensorType& t : types) text += (text.empty() ? "" : ", ") + type_text(t);
  return text;
}

std::vector<TensorType> types_of(const std::vector<Ssa>& values) {
  std::vector<TensorType> types;
  for (const Ssa& v : values) types.push_back(v.type);
  return types;
}

std::string dictionary(const std::vector<Attribute>& attributes, std::string_view open, std::string_view close) {
  if (attributes.empty()) return "";
  std::string text;
  for (const Attribute& a : attributes) text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", a.name, a.text);
  return fmt::format(" {}{}{}", open, text, close);
}

// The ends of the 64-bit types are no doubles: what a double has beyond the range stands for the end.
std::string integer_text(DType dtype, double value) {
  if (dtype == DType::U64 && value >= 0x1p64) return fmt::format("{}", std::numeric_limits<uint64_t>::max());
  if (dtype == DType::U64) return fmt::format("{}", static_cast<uint64_t>(value));
  if (value >= 0x1p63) return fmt::format("{}", std::numeric_limits<int64_t>::max());
  return fmt::format("{}", static_cast<int64_t>(value));
}

// One element in MLIR syntax. Floats are decimal with the 17 digits that identify a double, so that MLIR's own rounding
// to the dtype is the only one; infinities and NaN have no decimal form and are written as bits.
std::string element_text(DType dtype, double value) {
  if (dtype == DType::Bool) return value != 0 ? "true" : "false";
  if (!is_floating(dtype)) return integer_text(dtype, value);
  if (std::isfinite(value)) return fmt::format("{:.17e}", value);
  const HostTensor one = HostTensor::from_doubles({dtype, {}}, std::vector<double>{value});
  std::string hex;
  for (std::byte b : one.bytes()) hex = fmt::format("{:02X}", static_cast<unsigned>(b)) + hex;
  return "0x" + hex;
}

// The element where a double would lose digits of it; else nothing.
std::string long_integer_text(const HostTensor& value, size_t index) {
  if (value.type().dtype == DType::U64) return fmt::format("{}", value.as<uint64_t>()[index]);
  if (value.type().dtype == DType::S64) return fmt::format("{}", value.as<int64_t>()[index]);
  return "";
}

// Nested lists of a dense attribute.
std::string nested(const HostTensor& value, const std::vector<double>& elements, size_t dim, size_t& next) {
  const Dims& dims = value.type().dims;
  if (dim == dims.size()) {
    const size_t index = next++;
    const std::string exact = long_integer_text(value, index);
    return exact.empty() ? element_text(value.type().dtype, elements[index]) : exact;
  }
  std::string text;
  for (int64_t i = 0; i < dims[dim]; ++i) text += (i ? ", " : "") + nested(value, elements, dim + 1, next);
  return "[" + text + "]";
}

}  // namespace

std::string type_text(const TensorType& type) {
  std::string text = "tensor<";
  for (int64_t d : type.dims) text += fmt::format("{}x", d);
  return text + std::string(mlir_name_of(type.dtype)) + ">";
}

std::string i64_array(std::span<const int64_t> values) {
  return values.empty() ? "array<i64>" : fmt::format("array<i64: {}>", fmt::join(values, ", "));
}

std::string i64_attribute(int64_t value) { return fmt::format("{} : i64", value); }

std::string i64_matrix(const std::vector<std::vector<int64_t>>& rows) {
  const size_t columns = rows.empty() ? 0 : rows[0].size();
  std::string text;
  for (const auto& row : rows) text += fmt::format("{}[{}]", text.empty() ? "" : ", ", fmt::join(row, ", "));
  return fmt::format("dense<[{}]> : tensor<{}x{}xi64>", text, rows.size(), columns);
}

std::string Writer::fresh_name() { return fmt::format("%{}", names_++); }

void Writer::line(std::string_view text) {
  text_.append(static_cast<size_t>(depth_) * 2, ' ');
  text_.append(text);
  text_ += '\n';
}

std::vector<Ssa> Writer::block(const std::vector<TensorType>& arguments, const Body& body,
                               std::string_view terminator) {
  std::vector<Ssa> args;
  for (const TensorType& t : arguments) args.push_back({fresh_name(), t});
  if (!args.empty()) {
    std::string header;
    for (const Ssa& a : args) header += fmt::format("{}{}: {}", header.empty() ? "" : ", ", a.name, type_text(a.type));
    line(fmt::format("^bb0({}):", header));
  }
  ++depth_;
  std::vector<Ssa> results = body(*this, args);
  line(fmt::format("\"{}\"({}) : ({}) -> ()", terminator, join_names(results), join_types(types_of(results))));
  --depth_;
  return results;
}

std::vector<Ssa> Writer::op(std::string_view name, const std::vector<Ssa>& operands,
                            const std::vector<TensorType>& results, const std::vector<Attribute>& attributes,
                            const std::vector<Region>& regions) {
  std::vector<Ssa> values;
  std::string head;
  if (results.size() == 1) {
    values.push_back({fresh_name(), results[0]});
    head = values[0].name + " = ";
  } else if (!results.empty()) {
    const std::string base = fresh_name();
    for (size_t i = 0; i < results.size(); ++i) values.push_back({fmt::format("{}#{}", base, i), results[i]});
    head = fmt::format("{}:{} = ", base, results.size());
  }
  head += fmt::format("\"{}\"({})", name, join_names(operands));
  const std::string tail =
      fmt::format("{} : ({}) -> ({}){}", dictionary(attributes, "{", "}"), join_types(types_of(operands)),
                  join_types(results), location_.empty() ? "" : fmt::format(" loc(\"{}\")", location_));
  if (regions.empty()) {
    line(head + tail);
    return values;
  }
  line(head + " ({");
  for (size_t i = 0; i < regions.size(); ++i) {
    if (i > 0) line("}, {");
    block(regions[i].arguments, regions[i].body, "stablehlo.return");
  }
  line("})" + tail);
  return values;
}

Ssa Writer::op1(std::string_view name, const std::vector<Ssa>& operands, const TensorType& result,
                const std::vector<Attribute>& attributes, const std::vector<Region>& regions) {
  return op(name, operands, {result}, attributes, regions)[0];
}

Ssa Writer::splat(const TensorType& type, double value) {
  return op1("stablehlo.constant", {}, type,
             {{"value", fmt::format("dense<{}> : {}", element_text(type.dtype, value), type_text(type))}});
}

Ssa Writer::constant(const HostTensor& value) {
  size_t next = 0;
  const std::string elements = value.type().elements() == 0 ? "" : nested(value, value.to_doubles(), 0, next);
  return op1("stablehlo.constant", {}, value.type(),
             {{"value", fmt::format("dense<{}> : {}", elements, type_text(value.type()))}});
}

std::string write_module(const Module& module, const std::vector<Argument>& arguments, const Body& body) {
  const bool partitions = module.devices > 1 && module.spmd == Spmd::Partitions;
  const Attribute manual{"mhlo.sharding", "\"{manual}\""};
  Writer w;
  w.depth_ = 1;
  std::vector<Ssa> args;
  std::string parameters;
  for (const Argument& a : arguments) {
    args.push_back({w.fresh_name(), a.type});
    std::vector<Attribute> attributes;
    if (partitions) attributes.push_back(manual);
    if (a.aliased_result >= 0) attributes.push_back({"tf.aliasing_output", fmt::format("{} : i32", a.aliased_result)});
    parameters += fmt::format("{}{}: {}{}", parameters.empty() ? "" : ", ", args.back().name, type_text(a.type),
                              dictionary(attributes, "{", "}"));
  }
  ++w.depth_;
  const std::vector<Ssa> results = body(w, args);
  w.line(fmt::format("\"func.return\"({}) : ({}) -> ()", join_names(results), join_types(types_of(results))));
  std::string result_types;
  for (const Ssa& r : results) {
    result_types += fmt::format("{}{}{}", result_types.empty() ? "" : ", ", type_text(r.type),
                                partitions ? dictionary({manual}, "{", "}") : "");
  }
  return fmt::format(
      "module @{} attributes {{mhlo.num_partitions = {} : i32, mhlo.num_replicas = {} : i32}} {{\n"
      "  func.func public @main({}) -> ({}) {{\n{}  }}\n}}\n",
      module.name, partitions ? module.devices : 1, !partitions ? module.devices : 1, parameters, result_types,
      w.text_);
}

}  // namespace tethys::stablehlo
