// Overrides: the tree that describes a model is rewritten before anything is built from it. An override claims the
// nodes of one type whose full names match its globs, and puts others in their place.
//
// All claims are collected on the tree as it was; two on one node, or on a node and one above it, are an error, so the
// order of overrides does not matter. Plain values and functions; not for concurrent use of one tree.
//
//   const Override fast{"kernels.attention = fast", "ReferenceAttention", {"layers.*.attention.kernel"},
//                       [](ConfigNode&) { return std::make_unique<FastAttentionConfig>(); }};
//   const Overridden done = apply_overrides(*tree, {fast});
//   describe(done);   // the override, and "  layers.0.attention.kernel: ReferenceAttention() → FastAttention()"
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "config/node.h"

namespace tethys {

struct Override {
  std::string name;                // as messages call it: what the user wrote
  std::string type;                // type_name() of the nodes that it claims
  std::vector<std::string> globs;  // over full names; one that matches is enough
  // The new node. It may take the old one's children.
  std::function<std::unique_ptr<ConfigNode>(ConfigNode& old)> rewrite;
};

struct Overridden {
  struct Change {
    std::string override_name, node, before, after;
  };
  std::vector<Change> changes;        // by override, in the order of the tree
  std::vector<std::string> warnings;  // of overrides that claim nothing
};

// UserError that names both where two claims collide, and where a new node does not fit in the old one's place.
Overridden apply_overrides(ConfigNode& root, const std::vector<Override>& overrides);

// What each override changed, a line for each run of nodes that it changed alike; empty without changes.
std::string describe(const Overridden& overridden);

}  // namespace tethys
