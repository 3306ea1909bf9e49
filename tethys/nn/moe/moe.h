// MoE: in the place of a feed-forward, many of them, the experts, of which a router picks a few for each token (Shazeer
// et al., Outrageously Large Neural Networks, 2017). No token is dropped.
//
//   std::unique_ptr<FeedForward> moe = config.build("layers.0.moe");
//   Tensor y_BSD = moe->forward(x_BSD);
//
//   B batch   S sequence   D width   E experts   F width within an expert   T experts of a token
//
// The experts with the highest score + expert_bias are taken; the weight of one is its score alone. The bias is not
// trained: it follows the numbers of tokens that the experts got, which the forward leaves (train/balance.h).
#pragma once

#include <memory>

#include "kernels/routed_experts/routed_experts.h"
#include "nn/feed_forward.h"

namespace tethys {

struct RouterConfig : ConfigNode {
  int64_t dim = 1;
  int64_t experts = 1;
  int64_t top_k = 1;
  bool renormalise = true;  // the weights of a token add up to 1
  double scale = 1;
  InitialValue initial = normal(0.02);

  std::string_view type_name() const override { return "Router"; }
  void visit(NodeVisitor& visitor) override;
};

struct ExpertsConfig : ConfigNode {
  int64_t dim = 1;
  int64_t hidden = 1;
  int64_t experts = 1;
  InitialValue w1 = normal(0.02), w3 = normal(0.02), w2 = normal(0.02);
  Dispatcher dispatcher = Dispatcher::AllToAll;  // where experts are on other devices than tokens

  std::string_view type_name() const override { return "Experts"; }
  void visit(NodeVisitor& visitor) override;
};

struct MoEConfig : FeedForwardConfig {
  std::unique_ptr<RouterConfig> router;
  std::unique_ptr<ExpertsConfig> experts;

  std::string_view type_name() const override { return "MoE"; }
  std::string_view child_name() const override { return "moe"; }
  void visit(NodeVisitor& visitor) override;
  std::unique_ptr<FeedForward> build(std::string name) const override;
};

// Which experts each token goes to, with what weight, and how many tokens each gets.
struct Routing {
  Tensor ids_BST;      // s32
  Tensor weights_BST;  // at least float32
  Tensor counts_E;     // s32
};

class Router : public Module {
 public:
  Router(const RouterConfig& config, std::string name);
  // In at least float32 throughout.
  Routing forward(const Tensor& x_BSD, const Tensor& bias_E);

 private:
  int64_t top_k_;
  bool renormalise_;
  double scale_;
  Parameter gate_;
};

class Experts : public Module {
 public:
  Experts(const ExpertsConfig& config, std::string name);
  Tensor forward(const Tensor& x_BSD, const Routing& routing);

 private:
  Dispatcher dispatcher_;
  Parameter w1_, w3_, w2_;
};

// How the experts of a tree's MoE nodes are reached.
void set_dispatcher(ConfigNode& tree, Dispatcher dispatcher);

class MoE : public FeedForward {
 public:
  MoE(const MoEConfig& config, std::string name);
  Tensor forward(const Tensor& x_BSD) override;

 private:
  Router router_;
  Experts experts_;
  Parameter expert_bias_;
};

}  // namespace tethys
