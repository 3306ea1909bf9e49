#include "models/registry.h"

#include <fmt/ranges.h>

#include "base/error.h"
#include "base/nearest.h"
#include "models/llama3/config.h"
#include "models/llama3/hf.h"
#include "models/llama3/plan.h"
#include "models/qwen3/config.h"
#include "models/qwen3/hf.h"
#include "models/qwen3/plan.h"

namespace tethys {

std::span<const Architecture> architectures() {
  static const Architecture all[] = {
      {"llama3", llama_config, llama_plan, llama_hugging_face},
      {"qwen3", qwen3_config, qwen3_plan, qwen3_hugging_face},
      {"qwen3_moe", qwen3_moe_config, qwen3_moe_plan, qwen3_moe_hugging_face},
  };
  return all;
}

const Architecture& architecture_of(const Config& config) {
  const std::string& name = config.get_string("model.name");
  std::vector<std::string> names;
  for (const Architecture& architecture : architectures()) {
    if (name == architecture.name) return architecture;
    names.emplace_back(architecture.name);
  }
  user_error("{} is no architecture of Tethys; the nearest is {}, and all are {}", config.cite("model.name"),
             nearest_name(name, names), fmt::join(names, ", "));
}

}  // namespace tethys
