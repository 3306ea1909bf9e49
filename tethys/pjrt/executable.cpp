#include "pjrt/executable.h"

#include <utility>

#include "pjrt/buffer_type.h"
#include "pjrt/call.h"
#include "pjrt/client_state.h"
#include "pjrt/named_value_c.h"

namespace tethys::pjrt {

Executable::Executable(std::shared_ptr<const Plugin> plugin, Handle<PJRT_Executable> handle)
    : plugin_(std::move(plugin)), handle_(std::move(handle)) {}

std::string Executable::name() const {
  const auto args = call(plugin_, TETHYS_PJRT(PJRT_Executable_Name), [&](auto& a) { a.executable = handle_.get(); });
  return std::string(args.executable_name, args.executable_name_size);
}

int64_t Executable::num_replicas() const {
  return static_cast<int64_t>(call(plugin_, TETHYS_PJRT(PJRT_Executable_NumReplicas), [&](auto& a) {
                                a.executable = handle_.get();
                              }).num_replicas);
}

int64_t Executable::num_partitions() const {
  return static_cast<int64_t>(call(plugin_, TETHYS_PJRT(PJRT_Executable_NumPartitions), [&](auto& a) {
                                a.executable = handle_.get();
                              }).num_partitions);
}

int64_t Executable::num_outputs() const {
  return static_cast<int64_t>(call(plugin_, TETHYS_PJRT(PJRT_Executable_NumOutputs), [&](auto& a) {
                                a.executable = handle_.get();
                              }).num_outputs);
}

std::vector<TensorType> Executable::output_types() const {
  const auto set = [&](auto& a) { a.executable = handle_.get(); };
  const auto types = call(plugin_, TETHYS_PJRT(PJRT_Executable_OutputElementTypes), set);
  const auto dims = call(plugin_, TETHYS_PJRT(PJRT_Executable_OutputDimensions), set);
  require(types.num_output_types == dims.num_outputs, "{} output types but the dimensions of {}",
          types.num_output_types, dims.num_outputs);
  std::vector<TensorType> out;
  const int64_t* next = dims.dims;
  for (size_t i = 0; i < dims.num_outputs; ++i) {
    out.push_back({from_c(types.output_types[i]), Dims(next, next + dims.dim_sizes[i])});
    next += dims.dim_sizes[i];
  }
  return out;
}

std::vector<std::string> Executable::output_memory_kinds() const {
  const auto args =
      call(plugin_, TETHYS_PJRT(PJRT_Executable_OutputMemoryKinds), [&](auto& a) { a.executable = handle_.get(); });
  std::vector<std::string> out;
  for (size_t i = 0; i < args.num_outputs; ++i) out.emplace_back(args.memory_kinds[i], args.memory_kind_sizes[i]);
  return out;
}

std::string Executable::serialize() const {
  const auto args =
      call(plugin_, TETHYS_PJRT(PJRT_Executable_Serialize), [&](auto& a) { a.executable = handle_.get(); });
  std::string out(args.serialized_bytes, args.serialized_bytes_size);
  args.serialized_executable_deleter(args.serialized_executable);
  return out;
}

std::string Executable::fingerprint() const {
  const auto args =
      call(plugin_, TETHYS_PJRT(PJRT_Executable_Fingerprint), [&](auto& a) { a.executable = handle_.get(); });
  return std::string(args.executable_fingerprint, args.executable_fingerprint_size);
}

MemoryStats Executable::memory_stats() const {
  const auto a = call(plugin_, TETHYS_PJRT(PJRT_Executable_GetCompiledMemoryStats),
                      [&](auto& args) { args.executable = handle_.get(); });
  return {.arguments = a.argument_size_in_bytes,
          .outputs = a.output_size_in_bytes,
          .aliased = a.alias_size_in_bytes,
          .temporaries = a.temp_size_in_bytes,
          .generated_code = a.generated_code_size_in_bytes,
          .peak = a.peak_memory_in_bytes};
}

NamedValues Executable::cost_analysis() const {
  const auto args =
      call(plugin_, TETHYS_PJRT(PJRT_Executable_GetCostAnalysis), [&](auto& a) { a.executable = handle_.get(); });
  return from_c(args.properties, args.num_properties);
}

OptimizedProgram Executable::optimized_program() const {
  PJRT_Program program{};
  program.struct_size = PJRT_Program_STRUCT_SIZE;
  const auto set = [&](auto& a) {
    a.executable = handle_.get();
    a.program = &program;
  };
  call(plugin_, TETHYS_PJRT(PJRT_Executable_OptimizedProgram), set);  // the size
  std::string code(program.code_size, '\0');
  program.code = code.data();
  call(plugin_, TETHYS_PJRT(PJRT_Executable_OptimizedProgram), set);  // the bytes
  return {std::string(program.format, program.format_size), std::move(code)};
}

}  // namespace tethys::pjrt
