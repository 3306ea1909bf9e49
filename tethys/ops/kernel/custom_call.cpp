#include "ops/kernel/kernel.h"
#include "ops/registry.h"

namespace tethys {

struct CustomCallAttributes {
  Callee callee;
  std::string backend_config;
  bool operator==(const CustomCallAttributes&) const = default;
};
static std::string describe(const CustomCallAttributes& a) { return a.callee.target; }

const Callee& custom_call_callee(const Attributes& a) { return a.as<CustomCallAttributes>().callee; }

const OpRecord custom_call_op = {
    .name = "custom_call",
    .infer = [](const OpCall& call) { return call.declared; },
    .emit =
        [](EmitContext& c) {
          const auto& a = c.call.attributes.as<CustomCallAttributes>();
          return c.writer.op("stablehlo.custom_call", c.operands, c.results,
                             {{"call_target_name", fmt::format("\"{}\"", a.callee.target)},
                              {"api_version", "4 : i32"},
                              {"backend_config", fmt::format("{{{}}}", a.backend_config)}});
        },
};

std::vector<Value> custom_call(Graph& graph, Callee callee, std::string backend_config,
                               const std::vector<Value>& operands, std::vector<TensorType> results) {
  return graph.append(custom_call_op, CustomCallAttributes{std::move(callee), std::move(backend_config)}, operands, {},
                      std::move(results));
}

}  // namespace tethys
