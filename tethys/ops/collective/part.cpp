#include "ops/collective/part.h"

#include "ops/collective/collective.h"
#include "ops/registry.h"
#include "ops/shape/shape.h"
#include "ops/shape/splat.h"

namespace tethys {
namespace {

Value number(Graph& graph, int64_t value) { return splat(graph, {DType::S32, {}}, static_cast<double>(value)); }

}  // namespace

Dims cutting_axes(const Placement& placement, int64_t dim, const Mesh& mesh) {
  Dims axes;
  for (int64_t a = 0; a < mesh.rank(); ++a) {
    if (placement[a].is_shard(dim) && mesh.axes()[a].size > 1) axes.push_back(a);
  }
  return axes;
}

Value group_index(Graph& graph, const Mesh& mesh, const Dims& axes) {
  if (axes.empty()) return number(graph, 0);
  Value index = axis_index(graph, mesh, axes[0]);
  for (size_t i = 1; i < axes.size(); ++i) {
    const Value major = multiply(index, number(graph, mesh.axes()[axes[i]].size));
    index = add(major, axis_index(graph, mesh, axes[i]));
  }
  return index;
}

Value part_index(Graph& graph, const Placement& placement, int64_t dim, const Mesh& mesh) {
  return group_index(graph, mesh, cutting_axes(placement, dim, mesh));
}

Value part_start(Graph& graph, const Layout& layout, int64_t dim, const Mesh& mesh) {
  const int64_t size = local_dims(layout.type.dims, layout.placement, mesh)[dim];
  return multiply(part_index(graph, layout.placement, dim, mesh), number(graph, size));
}

Value own_part(Value x, const Mesh& mesh, const Dims& axes, int64_t dim) {
  Graph& graph = *x.graph;
  Dims sizes = x.dims();
  sizes[dim] /= mesh.size_over(axes);
  std::vector<Value> starts(sizes.size(), number(graph, 0));
  starts[dim] = multiply(group_index(graph, mesh, axes), number(graph, sizes[dim]));
  return dynamic_slice(x, starts, sizes);
}

}  // namespace tethys
