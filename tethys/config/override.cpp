#include "config/override.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/glob.h"

namespace tethys {
namespace {

using Claims = std::map<std::string, const Override*>;  // by full name

bool matches(const Override& o, const NamedNode& node) {
  return !node.name.empty() && node.node->type_name() == o.type &&
         std::any_of(o.globs.begin(), o.globs.end(), [&](const auto& glob) { return glob_match(glob, node.name); });
}

void claim(Claims& claims, const std::string& node, const Override& o) {
  const auto [found, is_new] = claims.emplace(node, &o);
  if (is_new) return;
  user_error("{}: both \"{}\" and \"{}\" claim this node; drop one, or let their globs not overlap", node,
             found->second->name, o.name);
}

// The node above, "layers.0" of "layers.0.attention"; or a part of a name that is none, such as "layers".
std::string above(const std::string& name) { return name.substr(0, std::min(name.rfind('.'), name.size())); }

void refuse_claims_within_claims(const Claims& claims) {
  for (const auto& [node, o] : claims) {
    for (std::string name = node; name.find('.') != std::string::npos;) {
      name = above(name);
      const auto found = claims.find(name);
      if (found == claims.end()) continue;
      user_error("\"{}\" claims {}, and \"{}\" claims {} inside of it; drop one, or let their globs not overlap",
                 found->second->name, name, o->name, node);
    }
  }
}

// The node with its fields and what is below it, in one line.
std::string one_line(ConfigNode& node) {
  std::string text = print_tree(node);
  text.erase(text.find_last_not_of('\n') + 1);
  for (size_t at; (at = text.find('\n')) != std::string::npos;) {
    text.replace(at, text.find_first_not_of(' ', at + 1) - at, "; ");
  }
  return text;
}

}  // namespace

Overridden apply_overrides(ConfigNode& root, const std::vector<Override>& overrides) {
  Overridden done;
  const std::vector<NamedNode> nodes = all_nodes(root);
  Claims claims;
  std::vector<std::pair<const Override*, NamedNode>> claimed;
  for (const Override& o : overrides) {
    const size_t before = claimed.size();
    for (const NamedNode& node : nodes) {
      if (!matches(o, node)) continue;
      claim(claims, node.name, o);
      claimed.emplace_back(&o, node);
    }
    if (claimed.size() > before) continue;
    done.warnings.push_back(
        fmt::format("{} changes nothing: the model has no {} named {}", o.name, o.type, fmt::join(o.globs, " or ")));
  }
  refuse_claims_within_claims(claims);
  for (const auto& [o, node] : claimed) {
    const std::string before = one_line(*node.node);
    std::unique_ptr<ConfigNode> rewritten = o->rewrite(*node.node);
    require(rewritten != nullptr, "{} puts nothing in the place of {}", o->name, node.name);
    done.changes.push_back({o->name, node.name, before, one_line(*rewritten)});
    replace_node(root, node.name, std::move(rewritten));
  }
  return done;
}

std::string describe(const Overridden& overridden) {
  const auto& all = overridden.changes;
  std::string text, name;
  for (size_t first = 0, last; first < all.size(); first = last + 1) {
    const auto& change = all[first];
    const auto alike = [&](const Overridden::Change& c) {
      return c.override_name == change.override_name && c.before == change.before && c.after == change.after &&
             with_stars(c.node) == with_stars(change.node);
    };
    for (last = first; last + 1 < all.size() && alike(all[last + 1]);) ++last;
    if (change.override_name != name) text += fmt::format("{}\n", name = change.override_name);
    text += fmt::format("  {}{}: {} → {}\n", change.node, last == first ? "" : " … " + all[last].node, change.before,
                        change.after);
  }
  return text;
}

}  // namespace tethys
