#include "kernels/routed_experts/dispatch.h"

#include <algorithm>

#include "ops/collective/collective.h"
#include "ops/collective/part.h"
#include "ops/shape/splat.h"
#include "ops/sort/sort.h"

namespace tethys {
namespace {

Tensor times(const Tensor& x, int64_t factor) { return x * static_cast<double>(factor); }
Tensor over(const Tensor& x, int64_t divisor) { return divide(x, full_like(x, static_cast<double>(divisor))); }
Tensor numbers(Graph& graph, int64_t count) { return iota(graph, {DType::S32, {count}}, 0); }

// The numbers of the keys in their order, stably.
Tensor order_of(const Tensor& keys) {
  const Value operands[] = {keys.value(), numbers(keys.graph(), keys.size(0)).value()};
  return sort(operands, 0)[1];
}

// Where each number went.
Tensor inverse(const Tensor& order) { return order_of(order); }

// How often each of 0 … groups − 1 occurs.
Tensor counts_of(const Tensor& keys, int64_t groups) {
  const Tensor group_KG = iota(keys.graph(), {DType::S32, {keys.size(0), groups}}, 1);
  return sum(cast(equal(group_KG, unsqueeze(keys, 1)), DType::S32), {0});
}

Tensor swapped(const Dispatch::Exchange& e, const Tensor& rows) {
  return all_to_all(rows.value(), *e.mesh, e.axes, 0, 0);
}

// Of each assignment: the expert's number on its device, that device among those that rows are exchanged with, and
// whether it is in this group at all.
struct Destinations {
  Tensor expert_A, device_A;
  std::optional<Tensor> own_A;
};

Destinations destinations(const ExpertOwners& owners, const Tensor& ids_A, int64_t experts_here) {
  Graph& graph = ids_A.graph();
  Tensor owner_A = over(ids_A, experts_here);
  Destinations d{ids_A - times(owner_A, experts_here), full_like(ids_A, 0), std::nullopt};
  int64_t stride = 1;
  for (auto axis = owners.axes.rbegin(); axis != owners.axes.rend(); ++axis) {
    const int64_t size = owners.mesh->axes()[*axis].size;
    const Tensor major_A = over(owner_A, size), index_A = owner_A - times(major_A, size);
    owner_A = major_A;
    if (std::find(owners.exchanged.begin(), owners.exchanged.end(), *axis) != owners.exchanged.end()) {
      d.device_A = d.device_A + times(index_A, stride);
      stride *= size;
    } else {
      const Tensor own_A = equal(index_A, Tensor(axis_index(graph, *owners.mesh, *axis)));
      d.own_A = d.own_A ? *d.own_A & own_A : own_A;
    }
  }
  return d;
}

}  // namespace

Tensor Dispatch::to_experts(const Tensor& rows_SD) const {
  return exchange ? take(swapped(*exchange, rows_SD), exchange->order_R) : rows_SD;
}

Tensor Dispatch::to_tokens(const Tensor& rows_RD) const {
  const Tensor rows_SD = exchange ? swapped(*exchange, take(rows_RD, exchange->position_R)) : rows_RD;
  const Tensor rows_AD = take(rows_SD, slot_A);
  return own_A ? where(unsqueeze(*own_A, 1), rows_AD, 0) : rows_AD;
}

Dispatch dispatch_here(const Tensor& ids_BST, int64_t experts) {
  const Tensor expert_A = reshape(ids_BST, {-1});
  const Tensor order_A = order_of(expert_A);
  return {.assignment_S = order_A,
          .token_S = over(order_A, ids_BST.size(2)),
          .slot_A = inverse(order_A),
          .counts_E = counts_of(expert_A, experts),
          .own_A = std::nullopt,
          .exchange = std::nullopt};
}

Dispatch dispatch_to(const ExpertOwners& owners, const Tensor& ids_BST, int64_t experts) {
  Graph& graph = ids_BST.graph();
  const Mesh& mesh = *owners.mesh;
  const int64_t experts_here = experts / mesh.size_over(owners.axes);
  if (owners.exchanged.empty()) {
    const Tensor own_BST = ids_BST - times(Tensor(group_index(graph, mesh, owners.axes)), experts_here);
    const Tensor none_BST = full_like(own_BST, static_cast<double>(experts_here));
    return dispatch_here(where((own_BST >= 0) & (own_BST < none_BST), own_BST, none_BST), experts_here);
  }
  const int64_t T = ids_BST.size(2), A = element_count(ids_BST.dims());
  const int64_t devices = mesh.size_over(owners.exchanged);
  const int64_t room = A / T * std::min(T, experts_here);  // no expert occurs twice in a token's ids
  const Destinations to = destinations(owners, reshape(ids_BST, {-1}), experts_here);

  // Sorted by device; each device's assignments go to the front of its slots.
  const Tensor nowhere_A = full_like(to.device_A, static_cast<double>(devices));
  const Tensor device_A = to.own_A ? where(*to.own_A, to.device_A, nowhere_A) : to.device_A;
  const Tensor order_A = order_of(device_A);
  const Tensor count_G = counts_of(device_A, devices);
  const Tensor first_G = Tensor(cumulative_sum(count_G.value(), 0)) - count_G;
  const Tensor slot_S = numbers(graph, devices * room);
  const Tensor device_S = over(slot_S, room), index_S = slot_S - times(device_S, room);
  const Tensor sorted_S = minimum(take(first_G, device_S) + index_S, full_like(slot_S, static_cast<double>(A - 1)));
  const Tensor assignment_S = take(order_A, sorted_S);
  const Tensor none_S = full_like(slot_S, static_cast<double>(experts_here));
  const Tensor expert_S = where(index_S < take(count_G, device_S), take(to.expert_A, assignment_S), none_S);
  const Tensor device_or_0_A = minimum(device_A, full_like(device_A, static_cast<double>(devices - 1)));
  const Tensor slot_A = times(device_or_0_A, room) + inverse(order_A) - take(first_G, device_or_0_A);

  Dispatch::Exchange exchange{&mesh, owners.exchanged, {}, {}};
  const Tensor expert_R = swapped(exchange, expert_S);
  exchange.order_R = order_of(expert_R);
  exchange.position_R = inverse(exchange.order_R);
  return {.assignment_S = assignment_S,
          .token_S = over(assignment_S, T),
          .slot_A = to.own_A ? where(*to.own_A, slot_A, 0) : slot_A,
          .counts_E = counts_of(expert_R, experts_here),
          .own_A = to.own_A,
          .exchange = std::move(exchange)};
}

}  // namespace tethys
