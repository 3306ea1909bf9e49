#include "nn/moe/moe.h"

#include "ops/shape/splat.h"
#include "ops/sort/sort.h"

namespace tethys {

void RouterConfig::visit(NodeVisitor& visitor) {
  visitor.field("dim", dim);
  visitor.field("experts", experts);
  visitor.field("top_k", top_k);
  visitor.field("renormalise", renormalise);
  visitor.field("scale", scale);
  visitor.field("initial", to_string(initial));
}

void ExpertsConfig::visit(NodeVisitor& visitor) {
  visitor.field("dim", dim);
  visitor.field("hidden", hidden);
  visitor.field("experts", experts);
  visitor.field("initial_w1", to_string(w1));
  visitor.field("initial_w3", to_string(w3));
  visitor.field("initial_w2", to_string(w2));
  visitor.field("dispatcher", name_of(dispatcher));
}

void MoEConfig::visit(NodeVisitor& visitor) {
  visitor.child("router", router);
  visitor.child("experts", experts);
}

std::unique_ptr<FeedForward> MoEConfig::build(std::string name) const {
  return std::make_unique<MoE>(*this, std::move(name));
}

Router::Router(const RouterConfig& config, std::string name)
    : Module(name),
      top_k_(config.top_k),
      renormalise_(config.renormalise),
      scale_(config.scale),
      gate_(name + ".gate.weight", {config.experts, config.dim}, config.initial) {
  add(gate_);
}

Routing Router::forward(const Tensor& input, const Tensor& bias_E) {
  const Scope scope = enter(input.graph());
  const Tensor x_BSD = cast(input, wide(input.dtype()));
  Graph& graph = x_BSD.graph();
  const Tensor scores_BSE = softmax(einsum("bsd,ed->bse", x_BSD, gate_.in(graph, x_BSD.dtype())), -1);
  const Tensor ids_BST = top_k((scores_BSE + bias_E).value(), 2, top_k_).indices;
  const Tensor expert_E = iota(graph, {DType::S32, {scores_BSE.size(2)}}, 0);
  const Tensor is_chosen_BSTE = equal(unsqueeze(ids_BST, -1), expert_E);
  Tensor weights_BST = sum(where(is_chosen_BSTE, unsqueeze(scores_BSE, 2), 0), {-1});
  if (renormalise_) weights_BST = weights_BST / (sum(weights_BST, {-1}, true) + 1e-20);
  return {ids_BST, weights_BST * scale_, sum(cast(is_chosen_BSTE, DType::S32), {0, 1, 2})};
}

Experts::Experts(const ExpertsConfig& config, std::string name)
    : Module(name),
      dispatcher_(config.dispatcher),
      w1_(name + ".w1", {config.experts, config.hidden, config.dim}, config.w1),
      w3_(name + ".w3", {config.experts, config.hidden, config.dim}, config.w3),
      w2_(name + ".w2", {config.experts, config.dim, config.hidden}, config.w2) {
  for (Parameter* parameter : {&w1_, &w3_, &w2_}) add(*parameter);
}

Tensor Experts::forward(const Tensor& x_BSD, const Routing& routing) {
  Graph& graph = x_BSD.graph();
  const Scope scope = enter(graph);
  return routed_experts({x_BSD, routing.ids_BST, routing.weights_BST, w1_.in(graph), w3_.in(graph), w2_.in(graph)},
                        dispatcher_);
}

void set_dispatcher(ConfigNode& tree, Dispatcher dispatcher) {
  for (const NamedNode& found : match_nodes(tree, "**.moe.experts"))
    dynamic_cast<ExpertsConfig&>(*found.node).dispatcher = dispatcher;
}

MoE::MoE(const MoEConfig& config, std::string name)
    : FeedForward(name),
      router_(*config.router, name + ".router"),
      experts_(*config.experts, name + ".experts"),
      expert_bias_(name + ".expert_bias", {config.router->experts}, InitialValue{}, Training::Off) {
  add(router_);
  add(experts_);
  add(expert_bias_);
}

Tensor MoE::forward(const Tensor& input) {
  Graph& graph = input.graph();
  const Scope scope = enter(graph);
  const Tensor x_BSD = entering(input);
  const Routing routing = router_.forward(x_BSD, expert_bias_.in(graph, wide(x_BSD.dtype())));
  expert_bias_.leave(graph, routing.counts_E.value());
  return leaving(experts_.forward(x_BSD, routing));
}

}  // namespace tethys
