#include "kernels/grouped_matmul/reference.h"

#include <algorithm>
#include <bit>

#include "kernels/grouped_matmul/grouped_matmul.h"
#include "ops/control/while_loop.h"
#include "ops/shape/shape.h"
#include "ops/shape/splat.h"
#include "ops/sort/sort.h"

namespace tethys {
namespace {

// Rows of a tile: half of what a group has on average, or most of a tile of few rows would be empty.
int64_t tile_rows(int64_t rows, int64_t groups) {
  const auto half = static_cast<uint64_t>(rows / std::max<int64_t>(1, groups) / 2);
  return std::clamp<int64_t>(static_cast<int64_t>(std::bit_floor(half)), 8, 256);
}

// Rows are cut into tiles of one group each; a group's last tile may be partly empty. Which tiles there are follows
// from the counts, so it is computed; at most there are T = M / size + E.
struct Tiles {
  int64_t size;
  Tensor used;                          // s32[]: how many there are
  Tensor group_T, first_row_T, rows_T;  // s32; what lies behind `used` is not read
};

Tiles tiles_of(Graph& graph, const Tensor& counts_E, int64_t rows) {
  const int64_t groups = counts_E.size(0), size = tile_rows(rows, groups);
  const Dims T = {rows / size + groups};
  const auto size_E = full_like(counts_E, static_cast<double>(size));
  const Tensor tiles_E = divide(counts_E + static_cast<double>(size - 1), size_E);
  const Tensor last_tile_E = cumulative_sum(tiles_E.value(), 0);  // + 1
  const Tensor last_row_E = cumulative_sum(counts_E.value(), 0);  // + 1
  const Tensor tile_T = iota(graph, {DType::S32, T}, 0);
  // A tile's group is the number of groups whose tiles have all come before.
  const Tensor before_TE = unsqueeze(tile_T, 1) >= unsqueeze(last_tile_E, 0);
  const Tensor group_T =
      minimum(sum(cast(before_TE, DType::S32), {1}), full_like(tile_T, static_cast<double>(groups - 1)));
  const Tensor within_T = tile_T - take(last_tile_E - tiles_E, group_T);
  const Tensor done_T = within_T * static_cast<double>(size);
  return {size, reshape(slice(last_tile_E, 0, groups - 1, groups), {}), group_T,
          take(last_row_E - counts_E, group_T) + done_T,
          minimum(take(counts_E, group_T) - done_T, full_like(tile_T, static_cast<double>(size)))};
}

// A loop over the tiles that there are: (tile number, result, constants) is its state.
struct Tile {
  Tensor group, first_row;  // s32[]
  Tensor is_row_b1;         // bool: whether a row of the tile belongs to it
};
using AddTile = std::function<Tensor(const Tile& tile, const Tensor& result, std::span<const Value> constants)>;

Tensor over_tiles(const Tiles& tiles, const Tensor& start, const std::vector<Value>& constants, const AddTile& add) {
  Graph& graph = start.graph();
  std::vector<Value> state = {
      splat(graph, {DType::S32, {}}, 0), start.value(),       tiles.used.value(), tiles.group_T.value(),
      tiles.first_row_T.value(),         tiles.rows_T.value()};
  const size_t fixed = state.size();
  state.insert(state.end(), constants.begin(), constants.end());
  const auto goes_on = [](Graph&, const std::vector<Value>& s) {
    return std::vector<Value>{(Tensor(s[0]) < Tensor(s[2])).value()};
  };
  const auto body = [&](Graph& region, const std::vector<Value>& s) {
    const auto at = [&](size_t table) { return reshape(Tensor(dynamic_slice(s[table], {&s[0], 1}, {1})), {}); };
    const Tensor index_b1 = iota(region, {DType::S32, {tiles.size, 1}}, 0);
    const Tile tile{at(3), at(4), index_b1 < at(5)};
    std::vector<Value> next = s;
    next[0] = (Tensor(s[0]) + 1).value();
    next[1] = add(tile, s[1], std::span(s).subspan(fixed)).value();
    return next;
  };
  return while_loop(state, goes_on, body)[1];
}

// Room for the last tile to stick out.
Tensor with_room(const Tensor& x, int64_t rows) {
  return pad(x.value(), splat(x.graph(), {x.dtype(), {}}, 0), {0, 0}, {rows, 0});
}

Value zero(const Tensor& like) { return splat(like.graph(), {DType::S32, {}}, 0); }

// The tile's rows of x; zeros where they are not its own.
Tensor rows_of(const Tile& tile, Value x) {
  const Value starts[] = {tile.first_row.value(), zero(tile.first_row)};
  const Tensor rows = dynamic_slice(x, starts, {tile.is_row_b1.size(0), x.dims()[1]});
  return where(tile.is_row_b1, rows, 0);
}

}  // namespace

// Each tile writes its whole window, zeros behind its own rows, which the next one then overwrites.
std::vector<Value> grouped_matmul_reference(Graph& graph, const Attributes& attributes,
                                            const std::vector<Value>& operands) {
  const Tensor x_MK = operands[0], w = operands[1], counts_E = operands[2];
  const bool transposed = attributes.as<GroupedMatmulAttributes>().transposed;
  const int64_t M = x_MK.size(0), N = w.size(transposed ? 2 : 1);
  const Tiles tiles = tiles_of(graph, counts_E, M);
  const Tensor zeros = splat(graph, {x_MK.dtype(), {M + tiles.size, N}}, 0);
  const auto add = [&](const Tile& tile, const Tensor& result, std::span<const Value> constants) {
    const Value at[] = {tile.group.value(), zero(result), zero(result)};
    const Tensor weight =
        reshape(Tensor(dynamic_slice(constants[1], at, {1, w.size(1), w.size(2)})), {w.size(1), w.size(2)});
    const Tensor product = einsum(transposed ? "mk,kn->mn" : "mk,nk->mn", rows_of(tile, constants[0]), weight);
    const Value starts[] = {tile.first_row.value(), zero(result)};
    return Tensor(dynamic_update_slice(result.value(), product.value(), starts));
  };
  const Tensor all = over_tiles(tiles, zeros, {with_room(x_MK, tiles.size).value(), w.value()}, add);
  return {slice(all, 0, 0, M).value()};
}

std::vector<Value> grouped_matmul_weights_reference(Graph& graph, const Attributes& attributes,
                                                    const std::vector<Value>& operands) {
  const Tensor g_MN = operands[0], x_MK = operands[1], counts_E = operands[2];
  const DType sums = wide(x_MK.dtype());
  const int64_t E = counts_E.size(0), N = g_MN.size(1), K = x_MK.size(1);
  const Tiles tiles = tiles_of(graph, counts_E, x_MK.size(0));
  const auto add = [&](const Tile& tile, const Tensor& result, std::span<const Value> constants) {
    const Tensor product = einsum("mn,mk->nk", rows_of(tile, constants[0]), rows_of(tile, constants[1]), sums);
    const Value at[] = {tile.group.value(), zero(result), zero(result)};
    const Tensor before = dynamic_slice(result.value(), at, {1, N, K});
    return Tensor(dynamic_update_slice(result.value(), (before + unsqueeze(product, 0)).value(), at));
  };
  const Tensor total = over_tiles(tiles, splat(graph, {sums, {E, N, K}}, 0),
                                  {with_room(g_MN, tiles.size).value(), with_room(x_MK, tiles.size).value()}, add);
  return {cast(total, attributes.as<GroupedMatmulWeightsAttributes>().result).value()};
}

}  // namespace tethys
