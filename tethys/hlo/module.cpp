#include "hlo/module.h"

#include <hlo.pb.h>

#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/number.h"

namespace tethys::hlo {
namespace {

// A compiler that cannot tell writes the largest number.
constexpr int64_t kNoEstimate = std::numeric_limits<int64_t>::max();

struct Element {
  int32_t number;
  std::string_view name;
  int64_t bits;
};
constexpr Element kElements[] = {
    {1, "pred", 8},    {30, "s1", 1},     {26, "s2", 2},       {21, "s4", 4},     {2, "s8", 8},      {3, "s16", 16},
    {4, "s32", 32},    {5, "s64", 64},    {31, "u1", 1},       {27, "u2", 2},     {22, "u4", 4},     {6, "u8", 8},
    {7, "u16", 16},    {8, "u32", 32},    {9, "u64", 64},      {10, "f16", 16},   {11, "f32", 32},   {16, "bf16", 16},
    {12, "f64", 64},   {19, "f8e5m2", 8}, {20, "f8e4m3fn", 8}, {28, "f8e4m3", 8}, {29, "f8e3m4", 8}, {15, "c64", 64},
    {18, "c128", 128}, {13, "tuple", 0},
};

const Element* element_of(const std::string& dtype) {
  for (const Element& element : kElements) {
    if (element.name == dtype) return &element;
  }
  return nullptr;
}

Shape shape_of(const wire::Shape& from) {
  Shape shape;
  for (const Element& element : kElements) {
    if (element.number == from.element_type()) shape.dtype = element.name;
  }
  shape.dims.assign(from.dimensions().begin(), from.dimensions().end());
  for (const wire::Shape& part : from.tuple_shapes()) shape.parts.push_back(shape_of(part));
  return shape;
}

std::optional<int64_t> value_of(const wire::Literal& literal) {
  if (literal.s32s_size() == 1) return literal.s32s(0);
  if (literal.s64s_size() == 1) return literal.s64s(0);
  if (literal.u32s_size() == 1) return literal.u32s(0);
  return std::nullopt;
}

// Of the compiler's notes on an instruction, which hold the figure themselves or in one of their members.
std::optional<int64_t> cycles_of(const std::string& notes) {
  constexpr const char* kKey = "estimated_cycles";
  const nlohmann::json json = nlohmann::json::parse(notes, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return std::nullopt;
  const nlohmann::json* cycles = json.contains(kKey) ? &json[kKey] : nullptr;
  for (const nlohmann::json& part : json) {
    if (part.is_object() && part.contains(kKey)) cycles = &part[kKey];
  }
  if (cycles == nullptr) return std::nullopt;
  std::optional<int64_t> number;
  if (cycles->is_string()) number = parse_number<int64_t>(cycles->get_ref<const std::string&>());
  if (cycles->is_number_integer()) number = cycles->get<int64_t>();
  return number && *number >= 0 && *number < kNoEstimate ? number : std::nullopt;
}

std::vector<std::vector<int64_t>> groups_of(const wire::Instruction& from) {
  std::vector<std::vector<int64_t>> groups;
  const wire::DeviceList& list = from.collective_device_list();
  if (list.has_iota_replica_group_list()) {
    const wire::IotaGroups& iota = list.iota_replica_group_list();
    return groups_of_iota({iota.iota_reshape_dims().begin(), iota.iota_reshape_dims().end()},
                          {iota.iota_transpose_perm().begin(), iota.iota_transpose_perm().end()},
                          iota.num_devices_per_group());
  }
  const auto& listed = list.replica_groups_size() > 0 ? list.replica_groups() : from.replica_groups();
  for (const wire::ReplicaGroup& group : listed)
    groups.emplace_back(group.replica_ids().begin(), group.replica_ids().end());
  return groups;
}

// Two for each product that is added: elements of the result times those that are summed over.
double dot_flops(const Shape& out, const Shape& lhs, const wire::DotDimensions& dot) {
  double summed = 1;
  for (int64_t dim : dot.lhs_contracting_dimensions()) {
    if (dim >= 0 && dim < static_cast<int64_t>(lhs.dims.size())) summed *= static_cast<double>(lhs.dims[dim]);
  }
  return 2 * static_cast<double>(out.elements()) * summed;
}

// How many pairs of an element of the kernel and one of the input meet along one spatial dimension. A batch is written
// as such a dimension too, dilated and padded so that each element of the kernel meets one of the input.
double pairs_along(const wire::WindowDimension& window, int64_t in, int64_t out) {
  const int64_t base = std::max<int64_t>(window.base_dilation(), 1), step = std::max<int64_t>(window.stride(), 1);
  const int64_t spread = std::max<int64_t>(window.window_dilation(), 1);
  double pairs = 0;
  for (int64_t k = 0; k < window.size(); ++k) {
    for (int64_t o = 0; o < out; ++o) {
      const int64_t at = o * step + k * spread - window.padding_low();
      if (at >= 0 && at % base == 0 && at / base < in) ++pairs;
    }
  }
  return pairs;
}

int64_t dim_of(const Shape& shape, int64_t dim) {
  if (dim < 0 || dim >= static_cast<int64_t>(shape.dims.size())) user_error("a convolution over a dimension it lacks");
  return shape.dims[dim];
}

double convolution_flops(const wire::Instruction& from, const Shape& out, const Shape& lhs, const Shape& kernel) {
  const wire::ConvolutionDimensions& dims = from.convolution_dimension_numbers();
  double spatial = 1, out_spatial = 1;
  for (int i = 0; i < from.window().dimensions_size(); ++i) {
    if (i >= dims.input_spatial_dimensions_size() || i >= dims.output_spatial_dimensions_size()) break;
    const int64_t in = dim_of(lhs, dims.input_spatial_dimensions(i));
    const int64_t made = dim_of(out, dims.output_spatial_dimensions(i));
    spatial *= pairs_along(from.window().dimensions(i), in, made);
    out_spatial *= static_cast<double>(made);
  }
  const double summed = static_cast<double>(dim_of(kernel, dims.kernel_input_feature_dimension()));
  return 2 * static_cast<double>(out.elements()) / std::max(out_spatial, 1.0) * spatial * summed;
}

class Reader {
 public:
  explicit Reader(const wire::Module& from) : from_(from) {
    for (int i = 0; i < from.computations_size(); ++i) computations_[from.computations(i).id()] = i;
  }

  Module read() const {
    Module module;
    module.name = from_.name();
    for (const wire::Computation& computation : from_.computations()) module.computations.push_back(read(computation));
    module.entry_index = find(computations_, from_.entry_computation_id());
    return module;
  }

 private:
  using Indexes = std::map<int64_t, size_t>;

  static size_t find(const Indexes& indexes, int64_t id) {
    const auto found = indexes.find(id);
    if (found == indexes.end()) user_error("an optimized program names part {}, which it does not have", id);
    return found->second;
  }

  // The instructions in the order in which they run.
  std::vector<const wire::Instruction*> scheduled(const wire::Computation& from) const {
    std::map<int64_t, const wire::Instruction*> by_id;
    std::vector<const wire::Instruction*> order;
    for (const wire::Instruction& instruction : from.instructions()) {
      by_id[instruction.id()] = &instruction;
      order.push_back(&instruction);
    }
    const auto schedule = from_.schedule().sequences().find(from.id());
    if (schedule == from_.schedule().sequences().end()) return order;
    order.clear();
    for (int64_t id : schedule->second.instruction_ids()) {
      const auto found = by_id.find(id);
      if (found == by_id.end())
        user_error("the schedule of {} names instruction {}, which is not there", from.name(), id);
      order.push_back(found->second);
    }
    return order;
  }

  Computation read(const wire::Computation& from) const {
    Computation computation{from.name(), from.execution_thread() == "main" ? "" : from.execution_thread(), {}, 0};
    const std::vector<const wire::Instruction*> order = scheduled(from);
    Indexes indexes;
    for (size_t i = 0; i < order.size(); ++i) indexes[order[i]->id()] = i;
    for (const wire::Instruction* instruction : order) computation.instructions.push_back(read(*instruction, indexes));
    for (size_t i = 0; i < order.size(); ++i) add_flops(*order[i], computation, i);
    computation.root = find(indexes, from.root_id());
    return computation;
  }

  Instruction read(const wire::Instruction& from, const Indexes& indexes) const {
    Instruction instruction;
    instruction.name = from.name();
    instruction.id = from.id();
    instruction.opcode = from.opcode();
    instruction.shape = shape_of(from.shape());
    instruction.scope = from.metadata().op_name();
    for (int64_t id : from.operand_ids()) instruction.operands.push_back(find(indexes, id));
    for (int64_t id : from.called_computation_ids()) instruction.calls.push_back(find(computations_, id));
    instruction.target = from.custom_call_target();
    instruction.comparison = from.comparison_direction();
    if (from.opcode() == "get-tuple-element") instruction.index = from.tuple_index();
    if (from.opcode() == "parameter") instruction.index = from.parameter_number();
    if (from.opcode() == "constant") instruction.value = value_of(from.literal());
    instruction.cycles = cycles_of(from.backend_config());
    instruction.channel = from.channel_id();
    const auto attribute = [&](const char* name) {
      const auto found = from.frontend_attributes().map().find(name);
      return found == from.frontend_attributes().map().end() ? std::string() : found->second;
    };
    instruction.transfer = attribute("_xla_megascale_transfer_type");
    instruction.meeting = attribute("_xla_host_transfer_rendezvous");
    instruction.groups = groups_of(from);
    for (const wire::SourceTarget& pair : from.source_target_pairs())
      instruction.groups.push_back({pair.source(), pair.target()});
    return instruction;
  }

  static void add_flops(const wire::Instruction& from, Computation& computation, size_t index) {
    Instruction& instruction = computation.instructions[index];
    if (instruction.operands.size() < 2) return;
    const Shape& lhs = computation.instructions[instruction.operands[0]].shape;
    const Shape& rhs = computation.instructions[instruction.operands[1]].shape;
    if (from.opcode() == "dot") instruction.flops = dot_flops(instruction.shape, lhs, from.dot_dimension_numbers());
    if (from.opcode() == "convolution") instruction.flops = convolution_flops(from, instruction.shape, lhs, rhs);
  }

  const wire::Module& from_;
  Indexes computations_;
};

}  // namespace

int64_t Shape::elements() const { return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>()); }

int64_t Shape::bytes() const {
  int64_t total = 0;
  for (const Shape& part : parts) total += part.bytes();
  const Element* element = element_of(dtype);
  return total + (element == nullptr ? 0 : (elements() * element->bits + 7) / 8);
}

std::vector<std::vector<int64_t>> groups_of_iota(const std::vector<int64_t>& dims, const std::vector<int64_t>& order,
                                                 int64_t size) {
  const int64_t count = std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
  std::vector<int64_t> axes(order);
  if (axes.empty()) {
    axes.resize(dims.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (axes.size() != dims.size() || size < 1 || count < 1 || count % size != 0) user_error("groups of no even size");
  std::vector<int64_t> strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  std::vector<std::vector<int64_t>> groups(count / size);
  for (int64_t position = 0; position < count; ++position) {
    int64_t rest = position, device = 0;
    for (size_t i = axes.size(); i-- > 0;) {  // minor first
      const int64_t axis = axes[i], along = dims.at(axis);
      device += rest % along * strides[axis];
      rest /= along;
    }
    groups[position / size].push_back(device);
  }
  return groups;
}

Module read_module(std::string_view bytes) {
  wire::ModuleWithConfig from;
  if (!from.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) || !from.has_hlo_module()) {
    user_error("{} bytes that are no optimized program", bytes.size());
  }
  return read_module(from.hlo_module());
}

Module read_module(const wire::Module& from) { return Reader(from).read(); }

}  // namespace tethys::hlo
