#include "config/node.h"

#include <utility>

#include "base/error.h"
#include "base/glob.h"
#include "base/nearest.h"

namespace tethys {
namespace {

std::string joined(const std::string& prefix, std::string_view name) {
  return prefix.empty() ? std::string(name) : prefix + "." + std::string(name);
}

class Collector : public NodeVisitor {
 public:
  Collector(std::string prefix, std::vector<NamedNode>& out) : prefix_(std::move(prefix)), out_(out) {}

 protected:
  void on_child(std::string_view name, NodeSlot& slot) override {
    const std::string full = joined(prefix_, name);
    out_.push_back({full, &slot.node()});
    Collector below(full, out_);
    slot.node().visit(below);
  }

 private:
  std::string prefix_;
  std::vector<NamedNode>& out_;
};

// Follows the one path to the target and puts the new node there.
class Replacer : public NodeVisitor {
 public:
  Replacer(std::string prefix, std::string_view target, std::unique_ptr<ConfigNode>& node)
      : prefix_(std::move(prefix)), target_(target), node_(node) {}

 protected:
  void on_child(std::string_view name, NodeSlot& slot) override {
    const std::string full = joined(prefix_, name);
    if (full == target_) {
      const std::string old_type(slot.node().type_name());
      if (!slot.put(node_)) {
        user_error("{}: a node of type {} cannot take the place of one of type {}", full, node_->type_name(), old_type);
      }
    } else if (target_.starts_with(full + ".")) {
      Replacer below(full, target_, node_);
      slot.node().visit(below);
    }
  }

 private:
  std::string prefix_;
  std::string_view target_;
  std::unique_ptr<ConfigNode>& node_;
};

struct Line {
  std::string first, last;  // names of the first and last of a run of equal neighbours
  std::string body;         // what follows the name, with the lines of the children
};

std::string text_of(const Line& line, const std::string& indent) {
  const std::string name = line.first == line.last ? line.first : line.first + " … " + line.last;
  return indent + name + ": " + line.body;
}

class Printer : public NodeVisitor {
 public:
  explicit Printer(std::string indent) : indent_(std::move(indent)) {}

  static std::string body_of(ConfigNode& node, const std::string& indent) {
    Printer printer(indent + "  ");
    node.visit(printer);
    std::string body = fmt::format("{}({})\n", node.type_name(), printer.fields_);
    for (const Line& line : printer.lines_) body += text_of(line, printer.indent_);
    return body;
  }

 protected:
  void on_field(std::string_view name, const std::string& value) override {
    fields_ += fmt::format("{}{}={}", fields_.empty() ? "" : ", ", name, value);
  }

  void on_child(std::string_view name, NodeSlot& slot) override {
    Line line{std::string(name), std::string(name), body_of(slot.node(), indent_)};
    if (!lines_.empty() && list_of(line.first) == list_of(lines_.back().first) && line.body == lines_.back().body) {
      lines_.back().last = line.last;
    } else {
      lines_.push_back(std::move(line));
    }
  }

 private:
  // "layers" of "layers.3"; a child that is in no list is a list of its own.
  static std::string list_of(const std::string& name) { return name.substr(0, name.find('.')); }

  std::string indent_;
  std::string fields_;
  std::vector<Line> lines_;
};

}  // namespace

void NodeVisitor::field(std::string_view name, bool value) { on_field(name, value ? "true" : "false"); }
void NodeVisitor::field(std::string_view name, double value) { on_field(name, fmt::format("{}", value)); }
void NodeVisitor::field(std::string_view name, std::string_view value) { on_field(name, std::string(value)); }

std::vector<NamedNode> all_nodes(ConfigNode& root) {
  std::vector<NamedNode> out{{"", &root}};
  Collector collector("", out);
  root.visit(collector);
  return out;
}

std::vector<NamedNode> match_nodes(ConfigNode& root, std::string_view glob) {
  std::vector<NamedNode> out;
  for (NamedNode& found : all_nodes(root)) {
    if (!found.name.empty() && glob_match(glob, found.name)) out.push_back(std::move(found));
  }
  return out;
}

void replace_node(ConfigNode& root, std::string_view full_name, std::unique_ptr<ConfigNode> node) {
  require(node != nullptr, "no node to put in the place of {}", full_name);
  Replacer replacer("", full_name, node);
  root.visit(replacer);
  if (node == nullptr) return;
  std::vector<std::string> names;
  for (const NamedNode& found : all_nodes(root)) {
    if (!found.name.empty()) names.push_back(found.name);
  }
  user_error("the configuration has no node \"{}\" that could be replaced; the nearest is \"{}\"", full_name,
             nearest_name(full_name, names));
}

std::string print_tree(ConfigNode& root) { return Printer::body_of(root, ""); }

}  // namespace tethys
