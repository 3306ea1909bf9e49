#include "kernels/attention/attention.h"

#include "kernels/attention/chunked.h"
#include "kernels/attention/reference.h"
#include "ops/control/redistribute.h"
#include "ops/samples.h"

namespace tethys {

std::string describe(const AttentionAttributes& a) {
  return a.block == 0 ? fmt::format("scale {}", a.scale) : fmt::format("scale {}, blocks of {}", a.scale, a.block);
}

namespace {

void check_operands(const OpCall& call) {
  const auto& o = call.operands;
  const TensorType& q = o[0];
  const TensorType& k = o[1];
  require(q.rank() == 4 && k.rank() == 4 && o[2] == k && q.dtype == k.dtype && is_floating(q.dtype),
          "q {}, k {}, v {}: expected [B,S,H,D], [B,T,K,D] and the same again, of one floating dtype", to_string(q),
          to_string(k), to_string(o[2]));
  require(q.dims[0] == k.dims[0] && q.dims[3] == k.dims[3], "q {} and k {} differ in batch or head size", to_string(q),
          to_string(k));
  require(k.dims[2] > 0 && q.dims[2] % k.dims[2] == 0, "{} query heads do not divide into groups for {} key heads",
          q.dims[2], k.dims[2]);
  const TensorType of_queries{DType::S32, {q.dims[0], q.dims[1]}};
  const TensorType of_keys{DType::S32, {k.dims[0], k.dims[1]}};
  require(o[3] == of_queries && o[4] == of_keys && o[5] == of_queries && o[6] == of_keys,
          "positions {} and {}, segments {} and {}: expected {} for queries and {} for keys", to_string(o[3]),
          to_string(o[4]), to_string(o[5]), to_string(o[6]), to_string(of_queries), to_string(of_keys));
}

TensorType log_sum_exp_type(const TensorType& q) { return {wide(q.dtype), {q.dims[0], q.dims[2], q.dims[1]}}; }

std::vector<TensorType> infer(const OpCall& call) {
  require(call.operands.size() == 7, "{} operands", call.operands.size());
  require(call.attributes.as<AttentionAttributes>().block >= 0, "{}", call.attributes.to_string());
  check_operands(call);
  return {call.operands[0], log_sum_exp_type(call.operands[0])};
}

std::vector<TensorType> infer_backward(const OpCall& call) {
  require(call.operands.size() == 10, "{} operands", call.operands.size());
  check_operands(call);
  const TensorType& q = call.operands[0];
  require(call.operands[7] == q && call.operands[8] == log_sum_exp_type(q) && call.operands[9] == q,
          "out {}, log-sum-exp {}, cotangent {} for q {}", to_string(call.operands[7]), to_string(call.operands[8]),
          to_string(call.operands[9]), to_string(q));
  return {q, call.operands[1], call.operands[2]};
}

using Composition = std::vector<Value> (*)(Graph&, const Attributes&, const std::vector<Value>&);

// Both compositions compute the same; which one is recorded, the attributes say.
template <Composition at_once, Composition in_blocks>
std::vector<Value> composed(Graph& graph, const Attributes& attributes, const std::vector<Value>& operands) {
  const bool blocks = attributes.as<AttentionAttributes>().block > 0;
  return (blocks ? in_blocks : at_once)(graph, attributes, operands);
}

Cotangents vjp(const VjpContext& c) {
  require(!c.cotangents[1], "attention's log-sum-exp has no gradient");
  Cotangents result(7);
  if (!c.cotangents[0]) return result;
  std::vector<Value> operands = c.operands;
  operands.insert(operands.end(), c.results.begin(), c.results.end());
  operands.push_back(*c.cotangents[0]);
  const std::vector<Value> gradients = kernel(attention_backward_kernel, c.graph, c.call.attributes, operands);
  for (size_t i = 0; i < 3; ++i) result[i] = redistribute_like(gradients[i], c.operands[i]);
  return result;
}

// Batch, queries and key heads may be sharded; query heads are the product (K, G), sharded along K alone. Sharded
// queries see all keys (context parallelism), and what they give back to keys and values are summands.
struct AttentionFactors {
  explicit AttentionFactors(const OpCall& call) {
    const Dims& q = call.operands[0].dims;
    const Dims& k = call.operands[1].dims;
    factors.factors = {{FactorKind::Pass, q[0]},
                       {FactorKind::Reduced, q[1]},
                       {FactorKind::Replicate, k[1], Reduction::Sum, /*yields=*/true},
                       {FactorKind::Pass, k[2]},
                       {FactorKind::Replicate, q[2] / k[2]},
                       {FactorKind::Replicate, q[3]}};
    factors.operands = {queries, keys, keys, rows_S, rows_T, rows_S, rows_T};
  }
  static constexpr int B = 0, S = 1, T = 2, K = 3, G = 4, D = 5;
  Factors factors;
  TensorFactors queries = {{B}, {S}, {K, G}, {D}}, keys = {{B}, {T}, {K}, {D}};
  TensorFactors rows_S = {{B}, {S}}, rows_T = {{B}, {T}}, statistics = {{B}, {K, G}, {S}};
};

Factors factors(const OpCall& call) {
  AttentionFactors f(call);
  f.factors.results = {f.queries, f.statistics};
  return f.factors;
}

Factors factors_backward(const OpCall& call) {
  AttentionFactors f(call);
  f.factors.operands.insert(f.factors.operands.end(), {f.queries, f.statistics, f.queries});
  f.factors.results = {f.queries, f.keys, f.keys};
  return f.factors;
}

HostTensor integers(Dims dims, const std::vector<int32_t>& values) {
  return HostTensor::of<int32_t>(std::move(dims), values);
}

// Rows of one document and of two.
std::vector<HostTensor> sample_rows() {
  const std::vector<int32_t> positions = {0, 1, 2, 0, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 0, 1};
  const std::vector<int32_t> segments = {0, 0, 0, 1, 0, 0, 0, 0, 5, 5, 5, 5, 0, 0, 1, 1};
  return {integers({4, 4}, positions), integers({4, 4}, positions), integers({4, 4}, segments),
          integers({4, 4}, segments)};
}

std::vector<HostTensor> sample_operands(int64_t heads, int64_t key_heads) {
  std::vector<HostTensor> operands = {sample_tensor({4, 4, heads, 2}, 1), sample_tensor({4, 4, key_heads, 2}, 2),
                                      sample_tensor({4, 4, key_heads, 2}, 3)};
  for (HostTensor& row : sample_rows()) operands.push_back(std::move(row));
  return operands;
}

std::vector<Sample> samples() {
  auto sample = [](std::string name, int64_t heads, int64_t key_heads, int64_t block) {
    return plain_sample(std::move(name), sample_operands(heads, key_heads), AttentionAttributes{0.7, block});
  };
  return {sample("a key head for each query head", 4, 4, 0), sample("two query heads share a key head", 8, 4, 0),
          sample("in blocks that do not divide the row", 8, 4, 3)};
}

}  // namespace

const KernelRecord attention_kernel = {
    .name = "attention",
    .infer = infer,
    .reference = composed<attention_reference, chunked_attention>,
    .gradient = Gradient::Rule,
    .vjp = vjp,
    .factors = factors,
    .samples = samples,
    .lowerings = {},
};

const KernelRecord attention_backward_kernel = {
    .name = "attention_backward",
    .infer = infer_backward,
    .reference = composed<attention_backward_reference, chunked_attention_backward>,
    .gradient = Gradient::Missing,
    .factors = factors_backward,
    .lowerings = {},
};

Attention attention(const AttentionOperands& o, const AttentionAttributes& attributes) {
  const std::vector<Value> results =
      kernel(attention_kernel, o.q_BSHD.graph(), attributes,
             {o.q_BSHD.value(), o.k_BTKD.value(), o.v_BTKD.value(), o.q_positions_BS.value(), o.k_positions_BT.value(),
              o.q_segments_BS.value(), o.k_segments_BT.value()});
  return {results[0], results[1]};
}

}  // namespace tethys
