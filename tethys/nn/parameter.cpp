#include "nn/parameter.h"

#include <algorithm>
#include <functional>

#include "ops/control/redistribute.h"

namespace tethys {

std::string to_string(const InitialValue& initial) {
  switch (initial.kind) {
    case InitialValue::Kind::Zeros: return "zeros";
    case InitialValue::Kind::Ones: return "ones";
    case InitialValue::Kind::Normal: return fmt::format("normal std {}", initial.std);
    case InitialValue::Kind::TruncatedNormal:
      return fmt::format("truncated normal std {} cut {}", initial.std, initial.cut);
  }
  internal_error("no such kind of initial value");
}

Parameter::Parameter(std::string name, Dims dims, InitialValue initial, Training training)
    : name_(std::move(name)), dims_(std::move(dims)), initial_(initial), training_(training) {
  parametrization_.storage_dims = parametrization_.compute_dims = dims_;
}

void Parameter::set_parametrization(Parametrization parametrization) {
  for (const Dims* longer : {&parametrization.storage_dims, &parametrization.compute_dims}) {
    const bool holds =
        longer->size() == dims_.size() && std::equal(dims_.begin(), dims_.end(), longer->begin(), std::less_equal<>());
    require(holds, "{} {} as {}", name_, to_string(dims_), to_string(*longer));
  }
  parametrization_ = std::move(parametrization);
}

Tensor Parameter::in(Graph& graph, std::optional<DType> dtype) const {
  const std::optional<Value> stored = graph.bound(this);
  require(stored.has_value(), "no value stands for parameter {} in this graph", name_);
  const Parametrization& p = parametrization_;
  const TensorType type{dtype.value_or(p.compute_dtype), p.compute_dims};
  return redistribute(*stored, type, {p.compute, promote(p.gradient_dtype, type.dtype), p.keep, p.unreduced});
}

}  // namespace tethys
