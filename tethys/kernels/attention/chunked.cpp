// Shapes besides those of attention.h: N blocks of queries, s queries in one; M blocks of keys, t keys in one.
#include "kernels/attention/chunked.h"

#include <algorithm>
#include <limits>

#include "kernels/attention/attention.h"
#include "ops/control/scan.h"
#include "ops/shape/shape.h"
#include "ops/shape/splat.h"

namespace tethys {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Positions of what fills up the last block: such a query stands before every key, such a key after every query.
constexpr double kBeforeAll = std::numeric_limits<int32_t>::min();
constexpr double kAfterAll = std::numeric_limits<int32_t>::max();

// A row cut into blocks of one size, as small as their number allows, so that little is filled up.
struct Cut {
  Cut(int64_t row, int64_t most) : length(row), count((row + most - 1) / most), size((row + count - 1) / count) {}
  int64_t length, count, size;
};

Tensor padded(const Tensor& x, int64_t axis, int64_t size, double value) {
  if (x.size(axis) == size) return x;
  Dims none(x.rank(), 0), high = none;
  high[axis] = size - x.size(axis);
  return pad(x.value(), splat(x.graph(), {x.dtype(), {}}, value), none, high);
}

// [B, length, …] → [B, count, size, …].
Tensor in_blocks(const Tensor& x, const Cut& cut, double filling = 0) {
  Dims dims = x.dims();
  dims[1] = cut.size;
  dims.insert(dims.begin() + 1, cut.count);
  return reshape(padded(x, 1, cut.count * cut.size, filling), dims);
}

// Heads stand before positions, so that every product is of matrices as they lie.
struct Blocks {
  Cut queries, keys;
  int64_t key_heads;

  Blocks(const std::vector<Value>& o, int64_t block)
      : queries(o[0].dims()[1], block), keys(o[1].dims()[1], block), key_heads(o[1].dims()[2]) {}

  Tensor queries_NBKGsD(const Tensor& x_BSHD) const {
    const Tensor x_BNsHD = in_blocks(x_BSHD, queries);
    const Dims& d = x_BNsHD.dims();
    return permute(reshape(x_BNsHD, {d[0], d[1], d[2], key_heads, d[3] / key_heads, d[4]}), {1, 0, 3, 4, 2, 5});
  }
  Tensor statistics_NBKGs1(const Tensor& x_BHS) const {
    const Tensor x_BHs = padded(x_BHS, 2, queries.count * queries.size, 0);
    const Tensor x_BKGNs1 = reshape(x_BHs, {x_BHS.size(0), key_heads, -1, queries.count, queries.size, 1});
    return permute(x_BKGNs1, {3, 0, 1, 2, 4, 5});
  }
  Tensor keys_MBKtD(const Tensor& x_BTKD) const { return permute(in_blocks(x_BTKD, keys), {1, 0, 3, 2, 4}); }
  static Tensor numbers_NBs(const Tensor& x_BS, const Cut& cut, double filling) {
    return permute(in_blocks(x_BS, cut, filling), {1, 0, 2});
  }

  Tensor query_rows(const Tensor& x_NBKGsD, const Dims& shape) const {
    const Tensor x_BNsKGD = permute(x_NBKGsD, {1, 0, 4, 2, 3, 5});
    return slice(reshape(x_BNsKGD, {shape[0], -1, shape[2], shape[3]}), 1, 0, queries.length);
  }
  Tensor statistic_rows(const Tensor& x_NBKGs1, const Dims& shape) const {
    const Tensor x_BKGNs1 = permute(x_NBKGs1, {1, 2, 3, 0, 4, 5});
    return slice(reshape(x_BKGNs1, {shape[0], shape[2], -1}), 2, 0, queries.length);
  }
  Tensor key_rows(const Tensor& x_MBKtD, const Dims& shape) const {
    return slice(reshape(permute(x_MBKtD, {1, 0, 3, 2, 4}), {shape[0], -1, shape[2], shape[3]}), 1, 0, keys.length);
  }

  // What a block of keys is known by, stacked: k, v, positions, segments.
  std::vector<Value> stacked_keys(const std::vector<Value>& o) const {
    return {keys_MBKtD(o[1]).value(), keys_MBKtD(o[2]).value(), numbers_NBs(o[4], keys, kAfterAll).value(),
            numbers_NBs(o[6], keys, 0).value()};
  }
  // And one of queries: q, positions, segments.
  std::vector<Value> stacked_queries(const std::vector<Value>& o) const {
    return {queries_NBKGsD(o[0]).value(), numbers_NBs(o[3], queries, kBeforeAll).value(),
            numbers_NBs(o[5], queries, 0).value()};
  }
};

struct Scores {
  Tensor scores_BKGst;  // scaled, in at least float32
  Tensor seen_B11st;
};

// Of one block of queries and one of keys, each as it is stacked above.
Scores scores(const std::vector<Value>& queries, const std::vector<Value>& keys, double scale) {
  const Tensor q_BKGsD = queries[0];
  const Tensor product = einsum("bkgsd,bktd->bkgst", q_BKGsD, keys[0], wide(q_BKGsD.dtype()));
  const Tensor causal = unsqueeze(queries[1], 2) >= unsqueeze(keys[2], 1);
  const Tensor seen_Bst = causal & equal(unsqueeze(queries[2], 2), unsqueeze(keys[3], 1));
  return {product * scale, unsqueeze(unsqueeze(seen_Bst, 1), 1)};
}

// One step of the running softmax (Rabe and Staats, Self-attention Does Not Need O(n²) Memory, 2021): carried are the
// largest score so far, and relative to it the sum of the exponentials and of the values that they weigh.
ScanResults add_keys(const ScanOperands& in, double scale) {
  const Tensor largest = in.carries[0], total = in.carries[1], weighted_BKGsD = in.carries[2];
  const Tensor v_BKtD = in.xs[1];
  const Scores s = scores(in.consts, in.xs, scale);
  const Tensor masked = where(s.seen_B11st, s.scores_BKGst, -kInfinity);
  const Tensor next_largest = maximum(largest, max(masked, {-1}, true));
  // Until something is seen the largest score is −∞; 0 in its place keeps exp(−∞ − …) at 0.
  const Tensor shift = where(next_largest > -kInfinity, next_largest, 0);
  const Tensor p_BKGst = exponential(masked - shift);
  const Tensor shrink = exponential(largest - shift);
  const Tensor values = einsum("bkgst,bktd->bkgsd", cast(p_BKGst, v_BKtD.dtype()), v_BKtD, total.dtype());
  const Tensor next_total = total * shrink + sum(p_BKGst, {-1}, true);
  return {{next_largest.value(), next_total.value(), (weighted_BKGsD * shrink + values).value()}, {}};
}

// One block of queries against all keys: its rows of out and of the log-sum-exp.
ScanResults attend(Graph& graph, const ScanOperands& in, int64_t key_blocks, double scale) {
  const TensorType q_BKGsD = in.xs[0].type();
  const TensorType sums = q_BKGsD.with_dtype(wide(q_BKGsD.dtype));
  TensorType statistic = sums;
  statistic.dims.back() = 1;
  const std::vector<Value> nothing = {splat(graph, statistic, -kInfinity), splat(graph, statistic, 0),
                                      splat(graph, sums, 0)};
  const ScanResults end = scan(graph, key_blocks, {.consts = in.xs, .carries = nothing, .xs = in.consts},
                               [scale](Graph&, const ScanOperands& step) { return add_keys(step, scale); });
  const Tensor largest = end.carries[0], total = end.carries[1], weighted = end.carries[2];
  const Tensor seen = total > 0;
  const Tensor out = cast(weighted / where(seen, total, 1), q_BKGsD.dtype);
  return {{}, {out.value(), (logarithm(total) + where(seen, largest, 0)).value()}};
}

// What one block of queries and one of keys give to each other's gradients: FlashAttention-2 (Dao, 2023), algorithm 2.
// Constant is the block of keys; its gradients are carried, and that of the queries is passed through.
ScanResults add_gradients(const ScanOperands& in, double scale) {
  const Tensor q_BKGsD = in.xs[0], dout_BKGsD = in.xs[3], log_sum_exp = in.xs[4], delta = in.xs[5], dq = in.xs[6];
  const Tensor k_BKtD = in.consts[0], v_BKtD = in.consts[1], dk = in.carries[0], dv = in.carries[1];
  const DType dtype = q_BKGsD.dtype(), sums = dq.dtype();
  const Scores s = scores(in.xs, in.consts, scale);
  const Tensor p_BKGst = where(s.seen_B11st, exponential(s.scores_BKGst - log_sum_exp), 0);
  const Tensor dp_BKGst = einsum("bkgsd,bktd->bkgst", dout_BKGsD, v_BKtD, sums);
  const Tensor ds_BKGst = cast(p_BKGst * (dp_BKGst - delta) * scale, dtype);
  const Tensor more_dv = einsum("bkgst,bkgsd->bktd", cast(p_BKGst, dtype), dout_BKGsD, sums);
  const Tensor more_dk = einsum("bkgst,bkgsd->bktd", ds_BKGst, q_BKGsD, sums);
  const Tensor more_dq = einsum("bkgst,bktd->bkgsd", ds_BKGst, k_BKtD, sums);
  return {{(dk + more_dk).value(), (dv + more_dv).value()}, {(dq + more_dq).value()}};
}

// One block of keys against all queries: its rows of the gradients of k and v, and the queries' with its part added.
ScanResults attend_backward(Graph& graph, const ScanOperands& in, int64_t query_blocks, double scale) {
  const TensorType k_BKtD = in.xs[0].type();
  const Value zeros = splat(graph, k_BKtD.with_dtype(wide(k_BKtD.dtype)), 0);
  std::vector<Value> queries = in.consts;
  queries.push_back(in.carries[0]);
  const ScanResults end = scan(graph, query_blocks, {.consts = in.xs, .carries = {zeros, zeros}, .xs = queries},
                               [scale](Graph&, const ScanOperands& step) { return add_gradients(step, scale); });
  return {{end.ys[0]}, {cast(end.carries[0], k_BKtD.dtype).value(), cast(end.carries[1], k_BKtD.dtype).value()}};
}

}  // namespace

std::vector<Value> chunked_attention(Graph& graph, const Attributes& attributes, const std::vector<Value>& o) {
  const auto& [scale, block] = attributes.as<AttentionAttributes>();
  const Blocks blocks(o, block);
  const ScanResults rows = scan(graph, blocks.queries.count,
                                {.consts = blocks.stacked_keys(o), .carries = {}, .xs = blocks.stacked_queries(o)},
                                [&blocks, scale = scale](Graph& region, const ScanOperands& in) {
                                  return attend(region, in, blocks.keys.count, scale);
                                });
  const Dims& q = o[0].dims();
  return {blocks.query_rows(rows.ys[0], q).value(), blocks.statistic_rows(rows.ys[1], q).value()};
}

std::vector<Value> chunked_attention_backward(Graph& graph, const Attributes& attributes, const std::vector<Value>& o) {
  const auto& [scale, block] = attributes.as<AttentionAttributes>();
  const Blocks blocks(o, block);
  const DType dtype = o[0].dtype();
  const Tensor dout_NBKGsD = blocks.queries_NBKGsD(o[9]);
  const Tensor out_NBKGsD = blocks.queries_NBKGsD(o[7]);
  const Tensor products = cast(dout_NBKGsD, wide(dtype)) * cast(out_NBKGsD, wide(dtype));
  const Tensor delta_NBKGs1 = sum(products, {-1}, true);
  std::vector<Value> queries = blocks.stacked_queries(o);
  for (const Tensor& x : {dout_NBKGsD, blocks.statistics_NBKGs1(o[8]), delta_NBKGs1}) queries.push_back(x.value());
  const Value no_dq = splat(graph, dout_NBKGsD.value().type().with_dtype(wide(dtype)), 0);
  const ScanResults end =
      scan(graph, blocks.keys.count, {.consts = queries, .carries = {no_dq}, .xs = blocks.stacked_keys(o)},
           [&blocks, scale = scale](Graph& region, const ScanOperands& in) {
             return attend_backward(region, in, blocks.queries.count, scale);
           });
  const Dims& k = o[1].dims();
  return {blocks.query_rows(cast(end.carries[0], dtype), o[0].dims()).value(), blocks.key_rows(end.ys[0], k).value(),
          blocks.key_rows(end.ys[1], k).value()};
}

}  // namespace tethys
