#include "models/registry.h"

#include "models/llama3/config.h"
#include "models/llama3/hf.h"
#include "models/llama3/plan.h"

namespace tethys {

const Architecture& find_architecture(std::string_view name) {
  static const Architecture architectures[] = {
      {"llama3", llama_config, llama_plan, llama_hugging_face_name},
  };
  for (const Architecture& architecture : architectures) {
    if (name == architecture.name) return architecture;
  }
  internal_error("no architecture {}", name);
}

}  // namespace tethys
