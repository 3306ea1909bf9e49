// The choice kernels.attention = chunked.
#include "config/config.h"
#include "config/override.h"
#include "kernels/attention/config.h"

namespace tethys {
namespace {

struct ChunkedAttentionConfig : AttentionKernelConfig {
  int64_t block;

  explicit ChunkedAttentionConfig(int64_t tokens) : block(tokens) {}
  std::string_view type_name() const override { return "ChunkedAttention"; }
  void visit(NodeVisitor& visitor) override { visitor.field("block", block); }
  AttentionKernel build() const override {
    return [tokens = block](const AttentionOperands& operands, double scale) {
      return attention(operands, {scale, tokens});
    };
  }
};

}  // namespace

namespace kernel_choices {

Override attention_chunked(const Config& config) {
  const int64_t block = config.get_int("kernels.attention_block");
  return {.name = "chunked attention",
          .type = "ReferenceAttention",
          .globs = {"**.kernel"},
          .rewrite = [block](ConfigNode&) { return std::make_unique<ChunkedAttentionConfig>(block); }};
}

}  // namespace kernel_choices
}  // namespace tethys
