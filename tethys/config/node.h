// ConfigNode: the tree that describes a model before anything is built. Each node is a plain struct with a type name,
// fields and named children; modules are built from it afterwards, so replacing a node changes what is built.
//
// A full name joins the child names from the root: "layers.0.attention.kernel"; the root's is empty. A node owns its
// children. visit() is not const because a visitor may replace a child. Not for concurrent use.
//
//   struct AttentionConfig : ConfigNode {
//     int64_t n_heads = 1;
//     std::unique_ptr<LinearConfig> wq;
//     std::unique_ptr<KernelConfig> kernel;
//     std::string_view type_name() const override { return "Attention"; }
//     void visit(NodeVisitor& v) override {
//       v.field("n_heads", n_heads);
//       v.child("wq", wq);
//       v.child("kernel", kernel);
//     }
//   };
//   for (const NamedNode& found : match_nodes(*model, "layers.*.attention.kernel"))
//     replace_node(*model, found.name, std::make_unique<SplashConfig>());
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tethys {

class NodeVisitor;

class ConfigNode {
 public:
  virtual ~ConfigNode() = default;
  // "Linear": what printing shows, and by what an override names a type.
  virtual std::string_view type_name() const = 0;
  // Tells the visitor every field, then every child, in the order in which they should print.
  virtual void visit(NodeVisitor& visitor) = 0;
};

// The place where a child hangs; valid during the visit that shows it.
class NodeSlot {
 public:
  NodeSlot(ConfigNode& node, std::function<bool(std::unique_ptr<ConfigNode>&)> put)
      : node_(&node), put_(std::move(put)) {}
  ConfigNode& node() const { return *node_; }
  // Destroys the child and hangs the node in its place. False, with the node left alone, if its type does not fit
  // there.
  bool put(std::unique_ptr<ConfigNode>& node) { return put_(node); }

 private:
  ConfigNode* node_;
  std::function<bool(std::unique_ptr<ConfigNode>&)> put_;
};

class NodeVisitor {
 public:
  virtual ~NodeVisitor() = default;

  void field(std::string_view name, bool value);
  void field(std::string_view name, double value);
  void field(std::string_view name, std::string_view value);
  void field(std::string_view name, const char* value) { field(name, std::string_view(value)); }
  template <typename Int>
  requires(std::is_integral_v<Int> && !std::is_same_v<Int, bool>) void field(std::string_view name, Int value) {
    on_field(name, std::to_string(value));
  }

  // A child that may be absent (null): then it is not there to be named, matched or replaced.
  template <typename Node>
  void child(std::string_view name, std::unique_ptr<Node>& owner) {
    if (owner == nullptr) return;
    NodeSlot slot(*owner, [&owner](std::unique_ptr<ConfigNode>& node) {
      Node* fitting = dynamic_cast<Node*>(node.get());
      if (fitting == nullptr) return false;
      node.release();
      owner.reset(fitting);
      return true;
    });
    on_child(name, slot);
  }

  // A list of children: named name.0, name.1, …
  template <typename Node>
  void children(std::string_view name, std::vector<std::unique_ptr<Node>>& owners) {
    for (size_t i = 0; i < owners.size(); ++i) child(std::string(name) + "." + std::to_string(i), owners[i]);
  }

 protected:
  virtual void on_field(std::string_view, const std::string&) {}
  virtual void on_child(std::string_view, NodeSlot&) {}
};

struct NamedNode {
  std::string name;
  ConfigNode* node = nullptr;
};

// Every node with its full name, a parent before its children.
std::vector<NamedNode> all_nodes(ConfigNode& root);

// The nodes below the root whose full name the glob matches, in the order of all_nodes.
std::vector<NamedNode> match_nodes(ConfigNode& root, std::string_view glob);

// Puts the node in the place of the one with that full name. UserError, naming the nearest, if there is none; and if
// the place does not take a node of that type. The tree is then as before.
void replace_node(ConfigNode& root, std::string_view full_name, std::unique_ptr<ConfigNode> node);

// The tree as indented text, a node per line: "layers.0: Block(layer=0)". Equal neighbours of a list print once,
// as "layers.0 … layers.31".
std::string print_tree(ConfigNode& root);

}  // namespace tethys
