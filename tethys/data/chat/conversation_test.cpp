#include "data/chat/conversation.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/temporary_folder.h"

namespace tethys {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::optional<Conversation> read(const std::string& text, bool skip = false) {
  return conversation_in({.number = 7, .text = text, .wrong = ""}, "a.jsonl",
                         {.text_field = "text", .skip_bad_lines = skip, .chats = true});
}

std::string error_of(const std::string& text) {
  EXPECT_EQ(read(text, true), std::nullopt) << text;
  try {
    read(text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Conversation, ReadsTheMessagesInOrder) {
  const auto conversation = read(
      R"({"id": 3, "messages": [{"role": "system", "content": "s"}, {"content": "\u00e9\n", "role": "user", "name": "x"},
          {"role": "assistant", "content": ""}]})");
  EXPECT_THAT(*conversation,
              ElementsAre(Message{Role::System, "s"}, Message{Role::User, "é\n"}, Message{Role::Assistant, ""}));
}

TEST(Conversation, RefusesALineWithoutOneAndNamesItAndTheReason) {
  const std::pair<const char*, const char*> wrong[] = {
      {"{", "is not JSON: "},
      {"[]", "is no JSON object"},
      {R"({"text": "a"})", "has no \"messages\""},
      {R"({"messages": "a"})", "has \"messages\" that are no list"},
      {R"({"messages": []})", "is an empty conversation"},
      {R"({"messages": [3]})", "has a messages[0] that is no object"},
      {R"({"messages": [{"content": "a"}]})", "has a messages[0] without a \"role\""},
      {R"({"messages": [{"role": "user", "content": "a"}, {"role": "robot", "content": "b"}]})",
       "has a messages[1] of the role \"robot\", which is none of system, user and assistant"},
      {R"({"messages": [{"role": "assistant"}]})", "has a messages[0] whose \"content\" is no text"},
      {R"({"messages": [{"role": "assistant", "content": [{"type": "text"}]}]})",
       "has a messages[0] whose \"content\" is no text"},
      {R"({"messages": [{"role": "user", "content": "a"}]})", "has no message of the assistant, so nothing to learn"},
  };
  for (const auto& [line, reason] : wrong) {
    EXPECT_THAT(error_of(line), HasSubstr(std::string("a.jsonl: line 7 ") + reason)) << line;
    EXPECT_THAT(error_of(line), HasSubstr("expected {\"messages\": [{\"role\": \"user\", \"content\": \"…\"}, …]}"));
  }
}

TEST(Conversation, OfAFileNeedsNoAnswer) {
  const TemporaryFolder folder;
  const std::string path = (folder / "chat.json").string();
  write_file(path, "{\"messages\": [\n {\"role\": \"user\", \"content\": \"a\"}\n]}\n");
  EXPECT_THAT(read_conversation(path), ElementsAre(Message{Role::User, "a"}));
  write_file(path, "[]");
  try {
    read_conversation(path);
    ADD_FAILURE() << "no error";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("chat.json is no JSON object; expected {\"messages\": ["));
  }
}

TEST(Conversation, EqualOnesShareTheirTextAndNoOthers) {
  const Conversation one = {{Role::User, "a"}, {Role::Assistant, "b"}};
  EXPECT_EQ(canonical_text(one), canonical_text(Conversation(one)));
  EXPECT_NE(canonical_text(one), canonical_text({{Role::Assistant, "a"}, {Role::Assistant, "b"}}));
  EXPECT_NE(canonical_text({{Role::User, "a\nuser 1\nb"}}), canonical_text({{Role::User, "a"}, {Role::User, "b"}}));
}

}  // namespace
}  // namespace tethys
