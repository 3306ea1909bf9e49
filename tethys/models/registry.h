// The architectures by the name that a recipe gives, and what each brings.
//
//   const Architecture& a = find_architecture(config.get_string("model.name"));
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

// InternalError if there is none: the option's choices are these.
const Architecture& find_architecture(std::string_view name);

}  // namespace tethys
