#include "ops/control/scan.h"

#include "ops/registry.h"
#include "ops/samples.h"
#include "ops/shape/shape.h"
#include "ops/shape/splat.h"

namespace tethys {

std::string describe(const ScanAttributes& a) {
  return fmt::format("length {} consts {} carries {}{}", a.length, a.consts, a.carries, a.reverse ? " reverse" : "");
}

const ScanAttributes& scan_attributes(const Attributes& a) { return a.as<ScanAttributes>(); }

TensorType slice_type(const TensorType& stacked) {
  require(stacked.rank() >= 1, "scan over {}, which has no leading dimension", to_string(stacked));
  return {stacked.dtype, Dims(stacked.dims.begin() + 1, stacked.dims.end())};
}

Value slice_at(Value stacked, Value index) {
  std::vector<Value> starts(stacked.dims().size(), splat(*stacked.graph, index.type(), 0));
  starts[0] = index;
  Dims window = stacked.dims();
  window[0] = 1;
  return reshape(dynamic_slice(stacked, starts, window), slice_type(stacked.type()).dims);
}

namespace {

using stablehlo::Ssa;
using stablehlo::Writer;

TensorType stacked_type(const TensorType& slice, int64_t length) {
  TensorType type = slice;
  type.dims.insert(type.dims.begin(), length);
  return type;
}

std::vector<TensorType> infer(const OpCall& call) {
  const ScanAttributes& a = scan_attributes(call.attributes);
  require(call.regions.size() == 1, "scan has {} regions", call.regions.size());
  const Graph& region = *call.regions[0];
  require(region.inputs().size() == call.operands.size(), "the region takes {} values, the scan has {} operands",
          region.inputs().size(), call.operands.size());
  for (size_t i = 0; i < call.operands.size(); ++i) {
    const bool sliced = static_cast<int64_t>(i) >= a.consts + a.carries;
    if (sliced) {
      require(call.operands[i].rank() >= 1 && call.operands[i].dims[0] == a.length, "scan of length {} over {}",
              a.length, to_string(call.operands[i]));
    }
    const TensorType expected = sliced ? slice_type(call.operands[i]) : call.operands[i];
    require(region.type(region.inputs()[i]) == expected, "operand {} gives {}, the region takes {}", i,
            to_string(expected), to_string(region.type(region.inputs()[i])));
  }
  require(static_cast<int64_t>(region.outputs().size()) >= a.carries, "the region returns {} values for {} carries",
          region.outputs().size(), a.carries);
  std::vector<TensorType> results;
  for (size_t i = 0; i < region.outputs().size(); ++i) {
    const TensorType& out = region.type(region.outputs()[i]);
    if (static_cast<int64_t>(i) >= a.carries) {
      results.push_back(stacked_type(out, a.length));
      continue;
    }
    const TensorType& in = call.operands[a.consts + i];
    require(out == in, "carry {} goes in as {} and comes out as {}", i, to_string(in), to_string(out));
    results.push_back(out);
  }
  return results;
}

// The loop's state in the text: the counter, then consts, carries and xs as they came, then the ys so far.
struct Loop {
  const EmitContext& context;
  const ScanAttributes& attributes;
  const Graph& region;
  size_t operands;

  std::vector<Ssa> body(Writer& w, const std::vector<Ssa>& state) const {
    const TensorType index{DType::S32, {}};
    const Ssa zero = w.splat(index, 0);
    const Ssa one = w.splat(index, 1);
    Ssa at = state[0];
    if (attributes.reverse) {
      const Ssa last = w.splat(index, static_cast<double>(attributes.length - 1));
      at = w.op1("stablehlo.subtract", {last, at}, index);
    }
    std::vector<Ssa> inputs(state.begin() + 1, state.begin() + 1 + static_cast<int64_t>(operands));
    for (size_t i = attributes.consts + attributes.carries; i < operands; ++i)
      inputs[i] = slice_at(w, inputs[i], at, zero);
    const std::vector<Ssa> outputs = context.emit_region(w, region, inputs);

    std::vector<Ssa> next = state;
    next[0] = w.op1("stablehlo.add", {state[0], one}, index);
    for (int64_t i = 0; i < attributes.carries; ++i) next[1 + attributes.consts + i] = outputs[i];
    for (size_t i = attributes.carries; i < outputs.size(); ++i) {
      Ssa& y = next[1 + operands + i - attributes.carries];
      y = write_at(w, y, outputs[i], at, zero);
    }
    return next;
  }

  static Ssa slice_at(Writer& w, const Ssa& stacked, const Ssa& at, const Ssa& zero) {
    const TensorType slice = slice_type(stacked.type);
    Dims sizes = stacked.type.dims;
    sizes[0] = 1;
    const Ssa row = w.op1("stablehlo.dynamic_slice", indexed({stacked}, stacked, at, zero), {slice.dtype, sizes},
                          {{"slice_sizes", stablehlo::i64_array(sizes)}});
    return w.op1("stablehlo.reshape", {row}, slice);
  }

  static Ssa write_at(Writer& w, const Ssa& stacked, const Ssa& slice, const Ssa& at, const Ssa& zero) {
    Dims row = stacked.type.dims;
    row[0] = 1;
    const Ssa update = w.op1("stablehlo.reshape", {slice}, {slice.type.dtype, row});
    return w.op1("stablehlo.dynamic_update_slice", indexed({stacked, update}, stacked, at, zero), stacked.type);
  }

  // The operands followed by one start index per dimension: `at`, then zeros.
  static std::vector<Ssa> indexed(std::vector<Ssa> operands, const Ssa& stacked, const Ssa& at, const Ssa& zero) {
    for (int64_t d = 0; d < stacked.type.rank(); ++d) operands.push_back(d == 0 ? at : zero);
    return operands;
  }
};

std::vector<Ssa> emit(EmitContext& c) {
  const ScanAttributes& a = scan_attributes(c.call.attributes);
  const TensorType index{DType::S32, {}};
  Writer& w = c.writer;
  std::vector<Ssa> state = {w.splat(index, 0)};
  state.insert(state.end(), c.operands.begin(), c.operands.end());
  for (size_t i = a.carries; i < c.results.size(); ++i) state.push_back(w.splat(c.results[i], 0));
  std::vector<TensorType> types;
  for (const Ssa& s : state) types.push_back(s.type);

  const Loop loop{c, a, *c.call.regions[0], c.operands.size()};
  const stablehlo::Region condition{types, [&a, index](Writer& w2, const std::vector<Ssa>& s) {
                                      const Ssa end = w2.splat(index, static_cast<double>(a.length));
                                      return w2.op("stablehlo.compare", {s[0], end}, {{DType::Bool, {}}},
                                                   {{"comparison_direction", "#stablehlo<comparison_direction LT>"}});
                                    }};
  const stablehlo::Region body{types, [&loop](Writer& w2, const std::vector<Ssa>& s) { return loop.body(w2, s); }};
  const std::vector<Ssa> end = w.op("stablehlo.while", state, types, {}, {condition, body});
  std::vector<Ssa> results(end.begin() + 1 + a.consts, end.begin() + 1 + a.consts + a.carries);
  results.insert(results.end(), end.begin() + 1 + static_cast<int64_t>(c.operands.size()), end.end());
  return results;
}

// h ← tanh(h · w + x), y = h · h: a recurrence with a constant, a carry, an x and a y.
Regions sample_region(const std::vector<TensorType>& operands) {
  auto region = std::make_shared<Graph>();
  const Value weight = region->input(operands[0], "w");
  const Value carry = region->input(operands[1], "h");
  const Value x = region->input(slice_type(operands[2]), "x");
  const Value next = tanh(add(multiply(carry, weight), x));
  region->set_outputs({next, multiply(next, next)});
  return {region};
}

std::vector<Sample> samples() {
  auto sample = [](std::string name, bool reverse) {
    return Sample{.name = std::move(name),
                  .operands = {sample_tensor({4, 8}, 1), sample_tensor({4, 8}, 2), sample_tensor({3, 4, 8}, 3)},
                  .attributes = ScanAttributes{3, 1, 1, reverse},
                  .declared = {},
                  .regions = sample_region};
  };
  return {sample("forward", false), sample("reverse", true)};
}

}  // namespace

const OpRecord scan_op = {
    .name = "scan",
    .infer = infer,
    .emit = emit,
    .gradient = Gradient::Region,
    .samples = samples,
    .structure = Structure::Loop,
};

ScanResults scan(Graph& graph, ScanAttributes attributes, const ScanOperands& operands, std::shared_ptr<Graph> region) {
  std::vector<Value> all = operands.consts;
  all.insert(all.end(), operands.carries.begin(), operands.carries.end());
  all.insert(all.end(), operands.xs.begin(), operands.xs.end());
  const std::vector<Value> results = graph.append(scan_op, attributes, all, {std::move(region)});
  const auto split = results.begin() + static_cast<int64_t>(operands.carries.size());
  return {{results.begin(), split}, {split, results.end()}};
}

ScanResults scan(Graph& graph, int64_t length, const ScanOperands& operands, const ScanBody& body, bool reverse) {
  auto region = std::make_shared<Graph>();
  region->set_scope(graph.scope());
  ScanOperands in;
  auto name = [](const char* kind, size_t i) { return fmt::format("{}{}", kind, i); };
  for (const Value& v : operands.consts) in.consts.push_back(region->input(v.type(), name("const", in.consts.size())));
  for (const Value& v : operands.carries)
    in.carries.push_back(region->input(v.type(), name("carry", in.carries.size())));
  for (const Value& v : operands.xs) in.xs.push_back(region->input(slice_type(v.type()), name("x", in.xs.size())));
  const ScanResults out = body(*region, in);
  std::vector<Value> outputs = out.carries;
  outputs.insert(outputs.end(), out.ys.begin(), out.ys.end());
  region->set_outputs(outputs);
  const ScanAttributes attributes{length, static_cast<int64_t>(operands.consts.size()),
                                  static_cast<int64_t>(operands.carries.size()), reverse};
  return scan(graph, attributes, operands, std::move(region));
}

}  // namespace tethys
