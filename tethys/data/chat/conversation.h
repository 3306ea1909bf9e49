// Conversation: what was said in turns, by whom. A file holds one, or one in each of its JSON lines or Parquet rows, as
// a list of messages:
//
//   {"messages": [{"role": "user", "content": "What floats?"}, {"role": "assistant", "content": "A boat."}]}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/sources/lines.h"

namespace tethys {

enum class Role : uint8_t { System, User, Assistant };
std::string_view name_of(Role role);

struct Message {
  Role role = Role::User;
  std::string text;
  bool operator==(const Message&) const = default;
};

// At least one message; to learn from, at least one of the assistant's.
using Conversation = std::vector<Message>;

// That of a file, which need hold no answer. UserError that names the file and the reason.
Conversation read_conversation(const std::string& path);

// That of a line, to learn from. Without one, nothing if bad lines are skipped, or else a UserError that names file,
// line and reason.
std::optional<Conversation> conversation_in(const Line& line, const std::string& path, const LineOptions& options);

// A text that equal conversations share and no others.
std::string canonical_text(const Conversation& conversation);

}  // namespace tethys
