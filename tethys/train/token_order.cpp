#include "train/token_order.h"

#include "base/error.h"

namespace tethys {

std::vector<int64_t> head_tail_order(int64_t length, int64_t ranks) {
  require(length % (2 * ranks) == 0, "{} tokens in 2 × {} pieces", length, ranks);
  const int64_t piece = length / (2 * ranks);
  std::vector<int64_t> order;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    for (int64_t first : {rank * piece, length - (rank + 1) * piece}) {
      for (int64_t i = 0; i < piece; ++i) order.push_back(first + i);
    }
  }
  return order;
}

HostTensor in_order(HostTensor rows, const std::vector<int64_t>& order) {
  if (order.empty()) return rows;
  const size_t length = order.size();
  require(static_cast<int64_t>(length) == rows.type().dims.back(), "an order of {} for rows {}", length,
          to_string(rows.type()));
  HostTensor result(rows.type());
  const std::span<const int32_t> from = rows.as<int32_t>();
  const std::span<int32_t> to = result.as<int32_t>();
  for (size_t row = 0; row < from.size(); row += length) {
    for (size_t column = 0; column < length; ++column)
      to[row + column] = from[row + static_cast<size_t>(order[column])];
  }
  return result;
}

}  // namespace tethys
