#include "config/override.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/testing.h"

namespace tethys {
namespace {

struct Kernel : ConfigNode {
  std::string_view type_name() const override { return "Reference"; }
  void visit(NodeVisitor&) override {}
};
struct Fast : Kernel {
  int64_t block;
  explicit Fast(int64_t block) : block(block) {}
  std::string_view type_name() const override { return "Fast"; }
  void visit(NodeVisitor& v) override { v.field("block", block); }
};
struct Attention : ConfigNode {
  std::unique_ptr<Kernel> kernel = std::make_unique<Kernel>();
  std::string_view type_name() const override { return "Attention"; }
  void visit(NodeVisitor& v) override { v.child("kernel", kernel); }
};
struct Latent : Attention {
  std::string_view type_name() const override { return "Latent"; }
};
struct Model : ConfigNode {
  std::vector<std::unique_ptr<Attention>> layers;
  std::unique_ptr<Kernel> output = std::make_unique<Kernel>();
  Model() {
    for (int i = 0; i < 3; ++i) layers.push_back(std::make_unique<Attention>());
  }
  std::string_view type_name() const override { return "Model"; }
  void visit(NodeVisitor& v) override {
    v.children("layers", layers);
    v.child("output", output);
  }
};

Override fast(std::string name, std::vector<std::string> globs, int64_t block = 4) {
  return {std::move(name), "Reference", std::move(globs),
          [block](ConfigNode&) { return std::make_unique<Fast>(block); }};
}

// Keeps the kernel.
Override latent(std::vector<std::string> globs) {
  return {"latent", "Attention", std::move(globs), [](ConfigNode& old) {
            auto node = std::make_unique<Latent>();
            node->kernel = std::move(dynamic_cast<Attention&>(old).kernel);
            return node;
          }};
}

TEST(Override, ReplacesTheNodesOfItsTypeThatItsGlobsMatch) {
  Model model;
  const Overridden done = apply_overrides(model, {fast("fast", {"layers.**", "nowhere"})});
  for (const auto& layer : model.layers) EXPECT_EQ(layer->kernel->type_name(), "Fast");
  EXPECT_EQ(model.output->type_name(), "Reference");
  EXPECT_EQ(done.changes.size(), 3U);
  EXPECT_TRUE(done.warnings.empty());
}

TEST(Override, TheNewNodeMayTakeTheOldOnesChildren) {
  Model model;
  const Overridden done = apply_overrides(model, {latent({"layers.1"}), fast("fast", {"layers.0.kernel"})});
  EXPECT_EQ(model.layers[1]->type_name(), "Latent");
  EXPECT_NE(model.layers[1]->kernel, nullptr);
  EXPECT_EQ(describe(done),
            "latent\n"
            "  layers.1: Attention(); kernel: Reference() → Latent(); kernel: Reference()\n"
            "fast\n"
            "  layers.0.kernel: Reference() → Fast(block=4)\n");
}

TEST(Override, ChangesThatAreAlikeStandInOneLine) {
  Model model;
  const Overridden done = apply_overrides(model, {fast("fast", {"layers.*.kernel"}), fast("faster", {"output"}, 8)});
  EXPECT_EQ(describe(done),
            "fast\n"
            "  layers.0.kernel … layers.2.kernel: Reference() → Fast(block=4)\n"
            "faster\n"
            "  output: Reference() → Fast(block=8)\n");
  EXPECT_EQ(describe(Overridden()), "");
}

TEST(Override, TwoClaimsOnOneNodeNameBothAndChangeNothing) {
  Model model;
  EXPECT_EQ(user_error_of([&] {
              apply_overrides(model, {fast("a", {"**.kernel"}), fast("b", {"layers.1.*"})});
            }),
            "layers.1.kernel: both \"a\" and \"b\" claim this node; drop one, or let their globs not overlap");
  EXPECT_EQ(model.layers[0]->kernel->type_name(), "Reference");
}

// In either order: the inner claim would hit a node that the outer one has taken away.
TEST(Override, AClaimInsideOfAnotherNamesBoth) {
  Model model;
  const std::string expected =
      "\"latent\" claims layers.2, and \"fast\" claims layers.2.kernel inside of it; drop one, or let their globs not "
      "overlap";
  const Override outer = latent({"layers.2"}), inner = fast("fast", {"**.kernel"});
  EXPECT_EQ(user_error_of([&] { apply_overrides(model, {outer, inner}); }), expected);
  EXPECT_EQ(user_error_of([&] { apply_overrides(model, {inner, outer}); }), expected);
  EXPECT_EQ(model.layers[0]->kernel->type_name(), "Reference");
}

TEST(Override, ClaimsAreThoseOfTheTreeAsItWas) {
  Model model;
  Override again = fast("again", {"**"});
  again.type = "Fast";
  const Overridden done = apply_overrides(model, {fast("fast", {"output"}), again});
  EXPECT_EQ(done.changes.size(), 1U);
  EXPECT_THAT(done.warnings, testing::ElementsAre("again changes nothing: the model has no Fast named **"));
}

TEST(Override, ANodeThatDoesNotFitIsAnError) {
  Model model;
  const Override wrong{"wrong", "Reference", {"output"}, [](ConfigNode&) { return std::make_unique<Attention>(); }};
  EXPECT_EQ(user_error_of([&] { apply_overrides(model, {wrong}); }),
            "output: a node of type Attention cannot take the place of one of type Reference");
}

}  // namespace
}  // namespace tethys
