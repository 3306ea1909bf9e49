// The choice kernels.loss = chunked.
#include "config/config.h"
#include "config/override.h"
#include "kernels/linear_cross_entropy/config.h"

namespace tethys {
namespace {

struct ChunkedLossConfig : LossKernelConfig {
  int64_t chunk;

  explicit ChunkedLossConfig(int64_t tokens) : chunk(tokens) {}
  std::string_view type_name() const override { return "ChunkedLoss"; }
  void visit(NodeVisitor& visitor) override { visitor.field("chunk", chunk); }
  LossKernel build() const override {
    return [tokens = chunk](const Tensor& x_BSD, const Tensor& w_VD, const Tensor& labels_BS, int64_t vocabulary) {
      return linear_cross_entropy(x_BSD, w_VD, labels_BS, vocabulary, tokens);
    };
  }
};

}  // namespace

namespace kernel_choices {

Override loss_chunked(const Config& config) {
  const int64_t chunk = config.get_int("kernels.loss_chunk");
  return {.name = "chunked loss", .type = "ReferenceLoss", .globs = {"**.kernel"}, .rewrite = [chunk](ConfigNode&) {
            return std::make_unique<ChunkedLossConfig>(chunk);
          }};
}

}  // namespace kernel_choices
}  // namespace tethys
