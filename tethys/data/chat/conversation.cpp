#include "data/chat/conversation.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/json_message.h"

namespace tethys {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kExpected = R"({"messages": [{"role": "user", "content": "…"}, …]})";
constexpr Role kRoles[] = {Role::System, Role::User, Role::Assistant};

// What is wrong with message number `i`; empty if it was appended.
std::string read_message(const Json& part, size_t i, Conversation& conversation) {
  if (!part.is_object()) return fmt::format("has a messages[{}] that is no object", i);
  const auto role = part.find("role"), content = part.find("content");
  if (role == part.end() || !role->is_string()) return fmt::format("has a messages[{}] without a \"role\"", i);
  if (content == part.end() || !content->is_string()) {
    return fmt::format("has a messages[{}] whose \"content\" is no text", i);
  }
  for (const Role known : kRoles) {
    if (role->get_ref<const std::string&>() != name_of(known)) continue;
    conversation.push_back({known, content->get<std::string>()});
    return "";
  }
  return fmt::format("has a messages[{}] of the role \"{}\", which is none of system, user and assistant", i,
                     role->get_ref<const std::string&>());
}

// What is wrong with the text of one; empty if it was appended.
std::string read_text(const std::string& text, Conversation& conversation) {
  if (text.find('\0') != std::string::npos) return "is not JSON: it holds a NUL byte";
  Json object;
  try {
    object = Json::parse(text);
  } catch (const Json::exception& error) {
    return fmt::format("is not JSON: {}", without_json_code(error.what()));
  }
  if (!object.is_object()) return "is no JSON object";
  const auto messages = object.find("messages");
  if (messages == object.end()) return "has no \"messages\"";
  if (!messages->is_array()) return "has \"messages\" that are no list";
  if (messages->empty()) return "is an empty conversation: its \"messages\" are an empty list";
  for (size_t i = 0; i < messages->size(); ++i) {
    const std::string wrong = read_message((*messages)[i], i, conversation);
    if (!wrong.empty()) return wrong;
  }
  return "";
}

// What is wrong with a line; empty if it gave its conversation.
std::string read_line(const Line& line, Conversation& conversation) {
  if (!line.wrong.empty()) return line.wrong;
  const std::string wrong = read_text(line.text, conversation);
  if (!wrong.empty()) return wrong;
  const bool answers = std::any_of(conversation.begin(), conversation.end(),
                                   [](const Message& message) { return message.role == Role::Assistant; });
  return answers ? "" : "has no message of the assistant, so nothing to learn";
}

}  // namespace

std::string_view name_of(Role role) {
  switch (role) {
    case Role::System: return "system";
    case Role::User: return "user";
    default: return "assistant";
  }
}

std::optional<Conversation> conversation_in(const Line& line, const std::string& path, const LineOptions& options) {
  Conversation conversation;
  const std::string wrong = read_line(line, conversation);
  if (wrong.empty()) return conversation;
  if (options.skip_bad_lines) return std::nullopt;
  user_error("{} {}; expected {} (data.chats), or --data.skip_bad_lines", place_of(line, path), wrong, kExpected);
}

Conversation read_conversation(const std::string& path) {
  Conversation conversation;
  const std::string wrong = read_text(read_input(path, kLongestLine), conversation);
  if (wrong.empty()) return conversation;
  user_error("{} {}; expected {}", path, wrong, kExpected);
}

std::string canonical_text(const Conversation& conversation) {
  std::string text;
  for (const Message& message : conversation) {
    text += fmt::format("{} {}\n{}\n", name_of(message.role), message.text.size(), message.text);
  }
  return text;
}

}  // namespace tethys
