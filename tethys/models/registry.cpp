#include "models/registry.h"

#include "models/llama3/config.h"
#include "models/llama3/hf.h"
#include "models/llama3/plan.h"

namespace tethys {

std::span<const Architecture> architectures() {
  static const Architecture all[] = {
      {"llama3", llama_config, llama_plan, llama_hugging_face},
  };
  return all;
}

const Architecture& find_architecture(std::string_view name) {
  for (const Architecture& architecture : architectures()) {
    if (name == architecture.name) return architecture;
  }
  internal_error("no architecture {}", name);
}

}  // namespace tethys
