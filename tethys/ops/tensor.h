// Tensor: what model code holds, a counted handle on a Value. Its functions broadcast (right-aligned), promote dtypes,
// take negative axes and numbers, and then record the strict ops of the other headers.
//
//   Tensor x = graph.input({DType::F32, {2, 3, 8}}, "x");
//   Tensor y = silu(x * 0.5) + mean(x, {-1}, true);
//   Tensor z = einsum("bsd,vd->bsv", y, w);
//
// The count tells eager and deferred execution which values can still be asked for. A Tensor must not outlive its
// graph, and is used by the graph's thread.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "ops/elementwise/compare.h"
#include "ops/registry.h"

namespace tethys {

class Tensor {
 public:
  Tensor() = default;
  Tensor(Value value) : value_(value) { hold(); }  // NOLINT: implicit by intent
  Tensor(const Tensor& other) : value_(other.value_) { hold(); }
  Tensor(Tensor&& other) noexcept : value_(std::exchange(other.value_, {})) {}
  Tensor& operator=(Tensor other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Tensor() {
    if (value_.graph != nullptr) value_.graph->drop_handle(value_.id);
  }

  const Value& value() const { return value_; }
  Graph& graph() const { return *value_.graph; }
  DType dtype() const { return value_.dtype(); }
  const Dims& dims() const { return value_.dims(); }
  int64_t rank() const { return value_.rank(); }
  // The size of a dimension; −1 is the last.
  int64_t size(int64_t axis) const;

 private:
  void hold() {
    if (value_.graph != nullptr) value_.graph->add_handle(value_.id);
  }
  Value value_;
};

// The dtype of statistics, norms and accumulators of values computed in `dtype`: at least float32.
inline DType wide(DType dtype) { return promote(DType::F32, dtype); }

// The unary and binary ops of ops/op_list.h by their names; the binary ones broadcast and promote.
#define TETHYS_UNARY(name) Tensor name(const Tensor& x);
#define TETHYS_BINARY(name) Tensor name(const Tensor& x, const Tensor& y);
#define TETHYS_OTHER(name)
TETHYS_OPS(TETHYS_UNARY, TETHYS_BINARY, TETHYS_OTHER)
#undef TETHYS_UNARY
#undef TETHYS_BINARY
#undef TETHYS_OTHER

// A number takes the shape and dtype of the tensor that it meets; one with a fraction does not meet integers.
#define TETHYS_OPERATOR(symbol)                             \
  Tensor operator symbol(const Tensor& x, const Tensor& y); \
  Tensor operator symbol(const Tensor& x, double y);        \
  Tensor operator symbol(double x, const Tensor& y);
TETHYS_OPERATOR(+)
TETHYS_OPERATOR(-)
TETHYS_OPERATOR(*)
TETHYS_OPERATOR(/)
TETHYS_OPERATOR(<)
TETHYS_OPERATOR(<=)
TETHYS_OPERATOR(>)
TETHYS_OPERATOR(>=)
#undef TETHYS_OPERATOR
Tensor operator-(const Tensor& x);
// On integers and bool.
Tensor operator&(const Tensor& x, const Tensor& y);
Tensor operator|(const Tensor& x, const Tensor& y);
Tensor operator^(const Tensor& x, const Tensor& y);

Tensor compare(const Tensor& x, const Tensor& y, Comparison comparison);
Tensor equal(const Tensor& x, const Tensor& y);
Tensor equal(const Tensor& x, double y);
Tensor not_equal(const Tensor& x, const Tensor& y);
Tensor not_equal(const Tensor& x, double y);
// x where the predicate holds, else y.
Tensor where(const Tensor& predicate, const Tensor& x, const Tensor& y);
Tensor where(const Tensor& predicate, const Tensor& x, double y);

// A number in the shape and dtype of a tensor.
Tensor full_like(const Tensor& like, double value);
// Shape like numpy's broadcast_to: dimensions are added on the left and those of size 1 are repeated.
Tensor broadcast_to(const Tensor& x, const Dims& dims);
// The shape in which both fit. InternalError if there is none.
Dims broadcast_dims(const Dims& a, const Dims& b);

// Over the given axes; `keep` leaves them with size 1.
Tensor sum(const Tensor& x, const Dims& axes, bool keep = false);
Tensor max(const Tensor& x, const Dims& axes, bool keep = false);
Tensor mean(const Tensor& x, const Dims& axes, bool keep = false);
// Over all elements, to a scalar.
Tensor sum(const Tensor& x);

// One size may be −1.
Tensor reshape(const Tensor& x, Dims dims);
// Exchanges two axes.
Tensor transpose(const Tensor& x, int64_t a, int64_t b);
// Axis i of the result is axis order[i] of x.
Tensor permute(const Tensor& x, Dims order);
// A new axis of size 1, before axis `axis` of x (−1: after the last).
Tensor unsqueeze(const Tensor& x, int64_t axis);
// Elements start … limit−1 along one axis; a negative limit counts from the end.
Tensor slice(const Tensor& x, int64_t axis, int64_t start, int64_t limit);
Tensor concatenate(const std::vector<Tensor>& parts, int64_t axis);
Tensor cast(const Tensor& x, DType dtype);

// Rows of a table [V, …] by s32 indices [I…] → [I…, …].
Tensor take(const Tensor& table, const Tensor& indices);

// x [..., m, k] · y [k, n] or [..., k, n].
Tensor matmul(const Tensor& x, const Tensor& y);
// A product of two tensors by named axes, "bskd,btkd->bkst". An axis in both operands and not in the result is summed.
// `result`: the dtype to accumulate and return; by default that of the operands.
Tensor einsum(std::string_view equation, const Tensor& x, const Tensor& y, std::optional<DType> result = std::nullopt);

Tensor softmax(const Tensor& x, int64_t axis);
Tensor silu(const Tensor& x);

// Names x for remat policies and returns it.
Tensor tag(Tensor x, std::string name);

}  // namespace tethys
