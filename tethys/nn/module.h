// Module: a named part of a model, with parameters and child modules. It says what is computed and nothing of devices:
// a plan may ask for placements of its first input and of its output, which it then records as redistribute nodes.
//
//   class Norm : public Module {
//    public:
//     explicit Norm(std::string name) : Module(std::move(name)), weight_(...) { add(weight_); }
//     Tensor forward(const Tensor& x) {
//       const Scope scope = enter(x.graph());
//       return leaving(entering(x) * weight_.in(x.graph()));
//     }
//   };
//
// A module does not move: its parameters are known by their addresses. Not for concurrent use.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "nn/parameter.h"

namespace tethys {

// Where a plan wants a module's first input and its output.
struct Constraints {
  std::optional<Placement> input, output;
};

class Module {
 public:
  // The full name, "layers.0.attention"; a model's own is empty.
  explicit Module(std::string name) : name_(std::move(name)) {}
  virtual ~Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  const std::string& name() const { return name_; }
  void set_constraints(Constraints constraints) { constraints_ = std::move(constraints); }
  const Constraints& constraints() const { return constraints_; }

  // Calls `visit` for this module and all below it, a parent before its children, children in order.
  void apply(const std::function<void(Module&)>& visit);
  // Every parameter, in the same order.
  void for_each_parameter(const std::function<void(Parameter&)>& visit);
  std::vector<Parameter*> parameters();

 protected:
  // Members, in the order of the model.
  void add(Module& child);
  void add(Parameter& parameter) { parameters_.push_back(&parameter); }

  // Nodes are recorded under this module's name while the result lives.
  Scope enter(Graph& graph) const { return Scope(graph, local_name_); }
  Tensor entering(const Tensor& x) const;
  Tensor leaving(const Tensor& x) const;

 private:
  std::string name_;
  std::string local_name_;  // without the parent's
  Constraints constraints_;
  std::vector<Module*> children_;
  std::vector<Parameter*> parameters_;
};

}  // namespace tethys
