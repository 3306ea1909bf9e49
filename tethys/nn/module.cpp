#include "nn/module.h"

#include "ops/control/redistribute.h"

namespace tethys {
namespace {

Tensor constrained(const Tensor& x, const std::optional<Placement>& placement) {
  return placement ? Tensor(redistribute(x.value(), *placement)) : x;
}

}  // namespace

void Module::add(Module& child) {
  const std::string prefix = name_.empty() ? "" : name_ + ".";
  require(child.name_.starts_with(prefix), "module {} below {}", child.name_, name_);
  child.local_name_ = child.name_.substr(prefix.size());
  children_.push_back(&child);
}

void Module::apply(const std::function<void(Module&)>& visit) {
  visit(*this);
  for (Module* child : children_) child->apply(visit);
}

void Module::for_each_parameter(const std::function<void(Parameter&)>& visit) {
  apply([&](Module& module) {
    for (Parameter* parameter : module.parameters_) visit(*parameter);
  });
}

std::vector<Parameter*> Module::parameters() {
  std::vector<Parameter*> all;
  for_each_parameter([&](Parameter& parameter) { all.push_back(&parameter); });
  return all;
}

Tensor Module::entering(const Tensor& x) const { return constrained(x, constraints_.input); }
Tensor Module::leaving(const Tensor& x) const { return constrained(x, constraints_.output); }

}  // namespace tethys
