// The architectures by the name that a recipe gives, and what each brings.
//
//   const Architecture& a = architecture_of(config);
//   std::unique_ptr<LanguageModel> model = a.configure(config)->build();
#pragma once

#include <memory>
#include <span>
#include <string>

#include "config/config.h"
#include "models/hugging_face.h"
#include "nn/language_model.h"
#include "nn/plan.h"

namespace tethys {

struct Architecture {
  const char* name = "";
  std::unique_ptr<LanguageModelConfig> (*configure)(const Config& config) = nullptr;
  Plan (*plan)(const PlanOptions& options) = nullptr;
  const HuggingFaceModel& (*hugging_face)() = nullptr;
};

std::span<const Architecture> architectures();

// That of model.name; UserError that names the nearest if there is none.
const Architecture& architecture_of(const Config& config);

}  // namespace tethys
