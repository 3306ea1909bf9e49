#include "ops/tensor.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "ops/dot/dot.h"
#include "ops/elementwise/convert.h"
#include "ops/elementwise/select.h"
#include "ops/gather/gather.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/shape.h"
#include "ops/shape/splat.h"

namespace tethys {
namespace {

// `axis` from 0, where −1 is the last of `rank`.
int64_t axis_of(int64_t axis, int64_t rank) {
  const int64_t from_start = axis < 0 ? axis + rank : axis;
  require(from_start >= 0 && from_start < rank, "no axis {} in a tensor of rank {}", axis, rank);
  return from_start;
}

Dims axes_of(const Dims& axes, int64_t rank) {
  Dims result;
  for (int64_t axis : axes) result.push_back(axis_of(axis, rank));
  std::sort(result.begin(), result.end());
  require(std::adjacent_find(result.begin(), result.end()) == result.end(), "an axis is repeated in {}", axes);
  return result;
}

Tensor scalar_like(const Tensor& like, double value) {
  require(is_floating(like.dtype()) || value == std::floor(value), "{} meets a tensor of {}: cast the tensor first",
          value, name_of(like.dtype()));
  return full_like(like, value);
}

struct Pair {
  Tensor x, y;
};

// Both in one shape and dtype.
Pair aligned(const Tensor& x, const Tensor& y) {
  const DType dtype = promote(x.dtype(), y.dtype());
  const Dims dims = broadcast_dims(x.dims(), y.dims());
  return {broadcast_to(cast(x, dtype), dims), broadcast_to(cast(y, dtype), dims)};
}

Tensor reduced(const Tensor& x, Reduction reduction, const Dims& axes, bool keep) {
  const Dims dims = axes_of(axes, x.rank());
  const Tensor result = reduce(x.value(), reduction, dims);
  if (!keep) return result;
  Dims kept = x.dims();
  for (int64_t d : dims) kept[d] = 1;
  return reshape(result.value(), kept);
}

}  // namespace

int64_t Tensor::size(int64_t axis) const { return dims()[axis_of(axis, rank())]; }

#define TETHYS_UNARY(name) \
  Tensor name(const Tensor& x) { return name(x.value()); }
#define TETHYS_BINARY(name)                       \
  Tensor name(const Tensor& x, const Tensor& y) { \
    const Pair pair = aligned(x, y);              \
    return name(pair.x.value(), pair.y.value());  \
  }
#define TETHYS_OTHER(name)
TETHYS_OPS(TETHYS_UNARY, TETHYS_BINARY, TETHYS_OTHER)

#define TETHYS_OPERATOR(symbol, function)                                                      \
  Tensor operator symbol(const Tensor& x, const Tensor& y) { return function(x, y); }          \
  Tensor operator symbol(const Tensor& x, double y) { return function(x, scalar_like(x, y)); } \
  Tensor operator symbol(double x, const Tensor& y) { return function(scalar_like(y, x), y); }
TETHYS_OPERATOR(+, add)
TETHYS_OPERATOR(-, subtract)
TETHYS_OPERATOR(*, multiply)
TETHYS_OPERATOR(/, divide)
#undef TETHYS_OPERATOR

#define TETHYS_COMPARISON(symbol, kind)                                                                         \
  Tensor operator symbol(const Tensor& x, const Tensor& y) { return compare(x, y, Comparison::kind); }          \
  Tensor operator symbol(const Tensor& x, double y) { return compare(x, scalar_like(x, y), Comparison::kind); } \
  Tensor operator symbol(double x, const Tensor& y) { return compare(scalar_like(y, x), y, Comparison::kind); }
TETHYS_COMPARISON(<, Less)
TETHYS_COMPARISON(<=, LessEqual)
TETHYS_COMPARISON(>, Greater)
TETHYS_COMPARISON(>=, GreaterEqual)
#undef TETHYS_COMPARISON

Tensor operator-(const Tensor& x) { return negate(x); }
Tensor operator&(const Tensor& x, const Tensor& y) { return bit_and(x, y); }
Tensor operator|(const Tensor& x, const Tensor& y) { return bit_or(x, y); }
Tensor operator^(const Tensor& x, const Tensor& y) { return bit_xor(x, y); }

Tensor compare(const Tensor& x, const Tensor& y, Comparison comparison) {
  const Pair pair = aligned(x, y);
  return compare(pair.x.value(), pair.y.value(), comparison);
}
Tensor equal(const Tensor& x, const Tensor& y) { return compare(x, y, Comparison::Equal); }
Tensor equal(const Tensor& x, double y) { return equal(x, scalar_like(x, y)); }
Tensor not_equal(const Tensor& x, const Tensor& y) { return compare(x, y, Comparison::NotEqual); }
Tensor not_equal(const Tensor& x, double y) { return not_equal(x, scalar_like(x, y)); }

Tensor where(const Tensor& predicate, const Tensor& x, const Tensor& y) {
  const Pair pair = aligned(x, y);
  const Dims dims = broadcast_dims(predicate.dims(), pair.x.dims());
  const Tensor p = broadcast_to(predicate, dims);
  const Tensor a = broadcast_to(pair.x, dims);
  const Tensor b = broadcast_to(pair.y, dims);
  return select(p.value(), a.value(), b.value());
}
Tensor where(const Tensor& predicate, const Tensor& x, double y) { return where(predicate, x, scalar_like(x, y)); }

Tensor full_like(const Tensor& like, double value) { return splat(like.graph(), like.value().type(), value); }

Dims broadcast_dims(const Dims& a, const Dims& b) {
  const size_t rank = std::max(a.size(), b.size());
  Dims result(rank);
  for (size_t i = 0; i < rank; ++i) {  // from the right
    const int64_t da = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t db = i < b.size() ? b[b.size() - 1 - i] : 1;
    require(da == db || da == 1 || db == 1, "shapes {} and {} do not broadcast: sizes {} and {}", to_string(a),
            to_string(b), da, db);
    result[rank - 1 - i] = da == 1 ? db : da;
  }
  return result;
}

// The strict broadcast repeats no dimension of size 1, so those are dropped first.
Tensor broadcast_to(const Tensor& x, const Dims& dims) {
  if (x.dims() == dims) return x;
  require(broadcast_dims(x.dims(), dims) == dims, "shape {} does not broadcast to {}", to_string(x.dims()),
          to_string(dims));
  const int64_t added = static_cast<int64_t>(dims.size()) - x.rank();
  Dims kept, positions;
  for (int64_t d = 0; d < x.rank(); ++d) {
    if (x.dims()[d] != dims[d + added]) continue;
    kept.push_back(x.dims()[d]);
    positions.push_back(d + added);
  }
  const Tensor squeezed = reshape(x.value(), kept);
  return broadcast(squeezed.value(), dims, positions);
}

Tensor sum(const Tensor& x, const Dims& axes, bool keep) { return reduced(x, Reduction::Sum, axes, keep); }
Tensor max(const Tensor& x, const Dims& axes, bool keep) { return reduced(x, Reduction::Max, axes, keep); }
Tensor mean(const Tensor& x, const Dims& axes, bool keep) {
  int64_t count = 1;
  for (int64_t axis : axes) count *= x.size(axis);
  return sum(x, axes, keep) * (1.0 / static_cast<double>(count));
}
Tensor sum(const Tensor& x) { return sum(x, dim_range(0, x.rank())); }

Tensor reshape(const Tensor& x, Dims dims) {
  const auto open = std::find(dims.begin(), dims.end(), -1);
  if (open != dims.end()) {
    *open = 1;
    const int64_t known = element_count(dims);
    const int64_t all = x.value().type().elements();
    require(known > 0 && all % known == 0, "{} does not reshape to multiples of {}", to_string(x.value().type()),
            known);
    *open = all / known;
  }
  return reshape(x.value(), std::move(dims));
}

Tensor transpose(const Tensor& x, int64_t a, int64_t b) {
  Dims order = dim_range(0, x.rank());
  std::swap(order[axis_of(a, x.rank())], order[axis_of(b, x.rank())]);
  return transpose(x.value(), order);
}

Tensor permute(const Tensor& x, Dims order) {
  for (int64_t& axis : order) axis = axis_of(axis, x.rank());
  return transpose(x.value(), std::move(order));
}

Tensor unsqueeze(const Tensor& x, int64_t axis) {
  Dims dims = x.dims();
  dims.insert(dims.begin() + axis_of(axis, x.rank() + 1), 1);
  return reshape(x.value(), std::move(dims));
}

Tensor slice(const Tensor& x, int64_t axis, int64_t start, int64_t limit) {
  const int64_t d = axis_of(axis, x.rank());
  return slice_dim(x.value(), d, start, limit < 0 ? limit + x.dims()[d] : limit);
}

Tensor concatenate(const std::vector<Tensor>& parts, int64_t axis) {
  require(!parts.empty(), "concatenate of no tensors");
  DType dtype = parts[0].dtype();
  for (const Tensor& part : parts) dtype = promote(dtype, part.dtype());
  std::vector<Tensor> cast_parts;
  std::vector<Value> values;
  for (const Tensor& part : parts) {
    cast_parts.push_back(cast(part, dtype));
    values.push_back(cast_parts.back().value());
  }
  return concatenate(std::span<const Value>(values), axis_of(axis, parts[0].rank()));
}

Tensor cast(const Tensor& x, DType dtype) { return convert(x.value(), dtype); }

Tensor take(const Tensor& table, const Tensor& indices) { return gather(table.value(), indices.value()); }

Tensor matmul(const Tensor& x, const Tensor& y) {
  require(x.rank() >= 2 && (y.rank() == 2 || y.rank() == x.rank()), "matmul of {} and {}", to_string(x.value().type()),
          to_string(y.value().type()));
  const DType dtype = promote(x.dtype(), y.dtype());
  DotDims dims{{}, {}, {x.rank() - 1}, {y.rank() - 2}};
  for (int64_t d = 0; d < y.rank() - 2; ++d) {
    dims.lhs_batch.push_back(d);
    dims.rhs_batch.push_back(d);
  }
  const Tensor a = cast(x, dtype);
  const Tensor b = cast(y, dtype);
  return dot(a.value(), b.value(), dims);
}

Tensor einsum(std::string_view equation, const Tensor& x, const Tensor& y, std::optional<DType> result) {
  const size_t comma = equation.find(',');
  const size_t arrow = equation.find("->");
  require(comma != std::string_view::npos && arrow != std::string_view::npos && comma < arrow, "einsum \"{}\"",
          equation);
  const std::string_view lhs = equation.substr(0, comma);
  const std::string_view rhs = equation.substr(comma + 1, arrow - comma - 1);
  const std::string_view out = equation.substr(arrow + 2);
  require(static_cast<int64_t>(lhs.size()) == x.rank() && static_cast<int64_t>(rhs.size()) == y.rank(),
          "einsum \"{}\" of {} and {}", equation, to_string(x.value().type()), to_string(y.value().type()));
  DotDims dims;
  std::string batch, free;
  for (size_t i = 0; i < lhs.size(); ++i) {
    const size_t in_rhs = rhs.find(lhs[i]);
    const bool in_out = out.find(lhs[i]) != std::string_view::npos;
    require(in_out || in_rhs != std::string_view::npos, "einsum \"{}\": axis {} is in one operand only", equation,
            lhs[i]);
    if (in_rhs == std::string_view::npos) {
      free += lhs[i];
      continue;
    }
    (in_out ? dims.lhs_batch : dims.lhs_contract).push_back(static_cast<int64_t>(i));
    (in_out ? dims.rhs_batch : dims.rhs_contract).push_back(static_cast<int64_t>(in_rhs));
    if (in_out) batch += lhs[i];
  }
  for (char axis : rhs) {
    if (lhs.find(axis) == std::string_view::npos) free += axis;
  }
  const std::string order = batch + free;  // of the dot's result
  require(order.size() == out.size(), "einsum \"{}\": the result lacks or repeats an axis", equation);
  Dims permutation;
  for (char axis : out) {
    require(order.find(axis) != std::string::npos, "einsum \"{}\": axis {} is in no operand", equation, axis);
    permutation.push_back(static_cast<int64_t>(order.find(axis)));
  }
  const DType dtype = promote(x.dtype(), y.dtype());
  const Tensor a = cast(x, dtype);
  const Tensor b = cast(y, dtype);
  const Tensor product = dot(a.value(), b.value(), dims, result);
  return transpose(product.value(), permutation);
}

Tensor softmax(const Tensor& x, int64_t axis) {
  const Tensor e = exponential(x - max(x, {axis}, true));
  return e / sum(e, {axis}, true);
}

Tensor silu(const Tensor& x) { return x * logistic(x); }

Tensor tag(Tensor x, std::string name) {
  x.graph().set_tag(x.value(), std::move(name));
  return x;
}

}  // namespace tethys
