// The one writer of StableHLO text, in MLIR's generic form. It knows types, names, attributes and regions, and no op.
//
//   Module module{.name = "step"};
//   std::string text = write_module(module, {{type, {}}}, [](Writer& w, const std::vector<Ssa>& args) {
//     return w.op("stablehlo.negate", {args[0]}, {args[0].type});
//   });
//
// Text has no versioned guarantee; the generic form is the one that changes least (see docs of StableHLO,
// Compatibility).
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "values/host_tensor.h"
#include "values/shape.h"

namespace tethys::stablehlo {

// A value in the text: its name ("%12") and its type.
struct Ssa {
  std::string name;
  TensorType type;
};

// `text` is MLIR attribute syntax; the functions below write the common ones.
struct Attribute {
  std::string name;
  std::string text;
};

class Writer;
using Body = std::function<std::vector<Ssa>(Writer&, const std::vector<Ssa>&)>;

// A region of one block: the types of its arguments, and what computes its results.
struct Region {
  std::vector<TensorType> arguments;
  Body body;
};

class Writer {
 public:
  // Writes one operation and returns its results. Regions end in stablehlo.return of what their body returns.
  std::vector<Ssa> op(std::string_view name, const std::vector<Ssa>& operands, const std::vector<TensorType>& results,
                      const std::vector<Attribute>& attributes = {}, const std::vector<Region>& regions = {});

  // The same for an operation of one result.
  Ssa op1(std::string_view name, const std::vector<Ssa>& operands, const TensorType& result,
          const std::vector<Attribute>& attributes = {}, const std::vector<Region>& regions = {});

  // stablehlo.constant with every element equal to `value`, rounded to the dtype.
  Ssa splat(const TensorType& type, double value);
  // stablehlo.constant of given elements; meant for small tensors.
  Ssa constant(const HostTensor& value);

  // What the operations from now on are from, such as "layers.0.attention": compilers keep it in what they make of
  // them. Empty: nothing is written.
  void set_location(std::string location) { location_ = std::move(location); }

  // A number no other collective of this module has.
  int64_t next_channel() { return ++channels_; }

 private:
  friend std::string write_module(const struct Module&, const std::vector<struct Argument>&, const Body&);
  std::string fresh_name();
  std::vector<Ssa> block(const std::vector<TensorType>& arguments, const Body& body, std::string_view terminator);
  void line(std::string_view text);

  std::string text_;
  std::string location_;
  int depth_ = 0;
  int64_t names_ = 0;
  int64_t channels_ = 0;
};

// How a program is spread over devices: as partitions of one program (manual SPMD), or as replicas.
enum class Spmd { Partitions, Replicas };

struct Module {
  std::string name = "program";
  int64_t devices = 1;
  Spmd spmd = Spmd::Partitions;
};

// An argument of the main function; `aliased_result` ≥ 0 donates its buffer to that result.
struct Argument {
  TensorType type;
  int64_t aliased_result = -1;
};

// The text of a module whose main function computes `body`.
std::string write_module(const Module& module, const std::vector<Argument>& arguments, const Body& body);

// "tensor<8x512xf32>"
std::string type_text(const TensorType& type);
// "array<i64: 0, 1>"
std::string i64_array(std::span<const int64_t> values);
// "2 : i64"
std::string i64_attribute(int64_t value);
// "dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>"; all rows have one length.
std::string i64_matrix(const std::vector<std::vector<int64_t>>& rows);

}  // namespace tethys::stablehlo
