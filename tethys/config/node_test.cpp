#include "config/node.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/testing.h"

namespace tethys {
namespace {

struct Linear : ConfigNode {
  int64_t in, out;
  bool bias = false;
  Linear(int64_t in, int64_t out) : in(in), out(out) {}
  std::string_view type_name() const override { return "Linear"; }
  void visit(NodeVisitor& v) override {
    v.field("in", in);
    v.field("out", out);
    v.field("bias", bias);
  }
};

struct Kernel : ConfigNode {};
struct Reference : Kernel {
  std::string_view type_name() const override { return "Reference"; }
  void visit(NodeVisitor&) override {}
};
struct Fast : Kernel {
  double scale = 0.5;
  std::string_view type_name() const override { return "Fast"; }
  void visit(NodeVisitor& v) override {
    v.field("scale", scale);
    v.field("mask", "causal");
  }
};

struct Block : ConfigNode {
  std::unique_ptr<Linear> wq = std::make_unique<Linear>(8, 8);
  std::unique_ptr<Linear> gate;
  std::unique_ptr<Kernel> kernel = std::make_unique<Reference>();
  std::string_view type_name() const override { return "Block"; }
  void visit(NodeVisitor& v) override {
    v.child("wq", wq);
    v.child("gate", gate);
    v.child("kernel", kernel);
  }
};

struct Model : ConfigNode {
  std::vector<std::unique_ptr<Block>> layers;
  std::unique_ptr<Linear> output = std::make_unique<Linear>(8, 100);
  explicit Model(int count) {
    for (int i = 0; i < count; ++i) layers.push_back(std::make_unique<Block>());
  }
  std::string_view type_name() const override { return "Model"; }
  void visit(NodeVisitor& v) override {
    v.children("layers", layers);
    v.child("output", output);
  }
};

std::vector<std::string> names(const std::vector<NamedNode>& nodes) {
  std::vector<std::string> out;
  for (const NamedNode& node : nodes) out.push_back(node.name);
  return out;
}

TEST(ConfigNode, NamesGoFromTheRootParentsFirstAndAbsentChildrenHaveNone) {
  Model model(2);
  EXPECT_THAT(names(all_nodes(model)), testing::ElementsAre("", "layers.0", "layers.0.wq", "layers.0.kernel",
                                                            "layers.1", "layers.1.wq", "layers.1.kernel", "output"));
}

TEST(ConfigNode, GlobsMatchFullNames) {
  Model model(3);
  EXPECT_THAT(names(match_nodes(model, "layers.*.kernel")),
              testing::ElementsAre("layers.0.kernel", "layers.1.kernel", "layers.2.kernel"));
  EXPECT_THAT(names(match_nodes(model, "**.wq")), testing::ElementsAre("layers.0.wq", "layers.1.wq", "layers.2.wq"));
  EXPECT_THAT(names(match_nodes(model, "kernel")), testing::IsEmpty());
  EXPECT_EQ(match_nodes(model, "**").size(), 10u);
}

TEST(ConfigNode, ANodeIsReplacedByOneOfAnotherType) {
  Model model(2);
  for (const NamedNode& found : match_nodes(model, "layers.*.kernel")) {
    replace_node(model, found.name, std::make_unique<Fast>());
  }
  EXPECT_EQ(model.layers[0]->kernel->type_name(), "Fast");
  EXPECT_EQ(model.layers[1]->kernel->type_name(), "Fast");
}

TEST(ConfigNode, APlaceRefusesATypeThatDoesNotFitAndStaysAsItWas) {
  Model model(1);
  EXPECT_EQ(user_error_of([&] { replace_node(model, "layers.0.wq", std::make_unique<Fast>()); }),
            "layers.0.wq: a node of type Fast cannot take the place of one of type Linear");
  EXPECT_EQ(model.layers[0]->wq->in, 8);
}

TEST(ConfigNode, ReplacingAnUnknownNodeNamesTheNearest) {
  Model model(2);
  EXPECT_EQ(user_error_of([&] { replace_node(model, "layers.1.kernal", std::make_unique<Fast>()); }),
            "the configuration has no node \"layers.1.kernal\" that could be replaced; the nearest is "
            "\"layers.1.kernel\"");
  EXPECT_THROW(replace_node(model, "", std::make_unique<Fast>()), UserError);
  EXPECT_THROW(replace_node(model, "output", nullptr), InternalError);
}

TEST(ConfigNode, PrintsATreeWhereEqualLayersStandOnce) {
  Model model(4);
  replace_node(model, "layers.3.kernel", std::make_unique<Fast>());
  EXPECT_EQ(print_tree(model),
            "Model()\n"
            "  layers.0 … layers.2: Block()\n"
            "    wq: Linear(in=8, out=8, bias=false)\n"
            "    kernel: Reference()\n"
            "  layers.3: Block()\n"
            "    wq: Linear(in=8, out=8, bias=false)\n"
            "    kernel: Fast(scale=0.5, mask=causal)\n"
            "  output: Linear(in=8, out=100, bias=false)\n");
}

}  // namespace
}  // namespace tethys
