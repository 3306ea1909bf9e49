#include "conformance.h"

#include <fmt/ranges.h>

namespace tethys::pjrt::conformance {
namespace {

std::string attribute_list(const std::vector<std::string>& attributes, size_t count, bool manual) {
  std::vector<std::string> out(count);
  for (size_t i = 0; i < count; ++i) {
    std::vector<std::string> own;
    if (i < attributes.size() && !attributes[i].empty()) own.push_back(attributes[i]);
    if (manual) own.push_back("mhlo.sharding = \"{manual}\"");
    out[i] = fmt::format("{{{}}}", fmt::join(own, ", "));
  }
  return fmt::format("[{}]", fmt::join(out, ", "));
}

}  // namespace

std::string to_text(const Program& p) {
  std::vector<std::string> arguments;
  for (size_t i = 0; i < p.inputs.size(); ++i) arguments.push_back(fmt::format("%arg{}: {}", i, p.inputs[i]));
  const std::string block = arguments.empty() ? "" : fmt::format("^bb0({}):\n", fmt::join(arguments, ", "));
  const std::string types = fmt::format("({}) -> ({})", fmt::join(p.inputs, ", "), fmt::join(p.result_types, ", "));
  return fmt::format(
      "\"builtin.module\"() ({{\n\"func.func\"() ({{\n{}{}\n\"func.return\"({}) : ({}) -> ()\n}}) "
      "{{function_type = {}, sym_name = \"main\", arg_attrs = {}, res_attrs = {}}} : () -> ()\n}}) "
      "{{sym_name = \"conformance\"}} : () -> ()\n",
      block, p.body, fmt::join(p.results, ", "), fmt::join(p.result_types, ", "), types,
      attribute_list(p.input_attributes, p.inputs.size(), p.manual), attribute_list({}, p.results.size(), p.manual));
}

std::string loop(const std::string& value, const std::string& type, int trips, const std::string& body) {
  return fmt::format(R"(
%zero = "stablehlo.constant"() {{value = dense<0> : tensor<i32>}} : () -> tensor<i32>
%loop:2 = "stablehlo.while"(%zero, {0}) ({{
^bb0(%i: tensor<i32>, %v: {1}):
  %trips = "stablehlo.constant"() {{value = dense<{2}> : tensor<i32>}} : () -> tensor<i32>
  %more = "stablehlo.compare"(%i, %trips) {{comparison_direction = #stablehlo<comparison_direction LT>}} : (tensor<i32>, tensor<i32>) -> tensor<i1>
  "stablehlo.return"(%more) : (tensor<i1>) -> ()
}}, {{
^bb0(%i: tensor<i32>, %v: {1}):
  %one = "stablehlo.constant"() {{value = dense<1> : tensor<i32>}} : () -> tensor<i32>
  %next = "stablehlo.add"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
{3}
  "stablehlo.return"(%next, %w) : (tensor<i32>, {1}) -> ()
}}) : (tensor<i32>, {1}) -> (tensor<i32>, {1}))",
                     value, type, trips, body);
}

std::vector<std::vector<HostTensor>> run_all(const Client& client, const LoadedExecutable& executable,
                                             const std::vector<std::vector<HostTensor>>& arguments) {
  std::vector<std::vector<Buffer>> buffers(arguments.size());
  std::vector<std::vector<Argument>> lists(arguments.size());
  for (size_t d = 0; d < arguments.size(); ++d) {
    for (const HostTensor& tensor : arguments[d]) {
      buffers[d].push_back(Buffer::from_host(client, tensor, executable.devices()[d]));
    }
    for (const Buffer& buffer : buffers[d]) lists[d].emplace_back(buffer);
  }
  std::vector<std::vector<HostTensor>> out;
  for (const std::vector<Buffer>& results : executable.execute(lists)) {
    std::vector<HostTensor>& list = out.emplace_back();
    for (const Buffer& result : results) list.push_back(result.to_host());
  }
  return out;
}

std::vector<HostTensor> run(const Client& client, const LoadedExecutable& executable,
                            const std::vector<HostTensor>& arguments) {
  return run_all(client, executable, {arguments})[0];
}

PjrtError error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const PjrtError& error) {
    return error;
  }
  ADD_FAILURE() << "expected a PjrtError, but nothing was thrown";
  return PjrtError(ErrorCode::Unknown, "", "", "");
}

}  // namespace tethys::pjrt::conformance
