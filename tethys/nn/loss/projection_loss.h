// ProjectionLoss: the final projection and its cross-entropy, one node of the config tree and one kernel, so that the
// logits of a whole batch need never exist. Its weight is its own, or the embedding's where they are tied.
#pragma once

#include <memory>

#include "kernels/linear_cross_entropy/config.h"
#include "nn/module.h"

namespace tethys {

class ProjectionLoss;

struct ProjectionLossConfig : ConfigNode {
  int64_t dim = 1;
  int64_t vocab_size = 1;
  InitialValue initial = normal(0.02);
  bool tied = false;
  std::unique_ptr<LossKernelConfig> kernel = std::make_unique<LossKernelConfig>();

  std::string_view type_name() const override { return "ProjectionLoss"; }
  void visit(NodeVisitor& visitor) override;
  // `embedding` is the weight where they are tied.
  virtual std::unique_ptr<ProjectionLoss> build(std::string name, const Parameter& embedding) const;
};

class ProjectionLoss : public Module {
 public:
  ProjectionLoss(const ProjectionLossConfig& config, std::string name, const Parameter& embedding);
  // The sum of the cross-entropy over labels that are not ignored; at least float32.
  virtual Tensor forward(const Tensor& x_BSD, const Tensor& labels_BS);
  // [B, S, V] in at least float32.
  virtual Tensor logits(const Tensor& x_BSD);

 private:
  int64_t vocab_size_;
  std::optional<Parameter> own_weight_;
  const Parameter& weight_;
  LossKernel loss_;
};

}  // namespace tethys
