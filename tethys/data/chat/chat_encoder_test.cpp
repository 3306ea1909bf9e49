#include "data/chat/chat_encoder.h"

#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "data/tokenizer/train_bpe.h"

namespace tethys {
namespace {

// Bytes, a merge of two newlines, and these special tokens.
Tokenizer tokenizer_with(const std::vector<std::string>& specials) {
  return Tokenizer(
      learn_merges({{"\n\n", 5}},
                   {.vocab_size = static_cast<int64_t>(257 + specials.size()), .specials = specials, .progress = {}}));
}

const Tokenizer& qwen3() {
  static const Tokenizer shared =
      tokenizer_with({"<|endoftext|>", "<|im_start|>", "<|im_end|>", "<think>", "</think>"});
  return shared;
}

const Tokenizer& llama3() {
  static const Tokenizer shared = tokenizer_with(
      {"<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"});
  return shared;
}

struct Encoded {
  std::vector<int32_t> ids;
  std::vector<bool> learnt;
};

Encoded encoded(const Tokenizer& tokenizer, const Conversation& conversation) {
  Encoded result;
  ChatEncoder(tokenizer).encode(conversation, result.ids, result.learnt);
  EXPECT_EQ(result.ids.size(), result.learnt.size());
  return result;
}

// The text, what is learnt in brackets.
std::string bracketed(const Tokenizer& tokenizer, const Conversation& conversation) {
  const Encoded chat = encoded(tokenizer, conversation);
  std::string text;
  bool inside = false;
  for (size_t i = 0; i < chat.ids.size(); ++i) {
    if (chat.learnt[i] != inside) text += (inside = !inside) ? "[" : "]";
    text += tokenizer.token(chat.ids[i]);
  }
  return inside ? text + "]" : text;
}

TEST(ChatEncoder, SpellsLlama3sHeadersAndLearnsTheAnswersWithTheirEnds) {
  EXPECT_EQ(bracketed(llama3(), {{Role::System, " Be brief.\n"},
                                 {Role::User, "What floats?"},
                                 {Role::Assistant, "\nA boat. "},
                                 {Role::User, "And?"},
                                 {Role::Assistant, "Ice."}}),
            "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nBe brief.<|eot_id|>"
            "<|start_header_id|>user<|end_header_id|>\n\nWhat floats?<|eot_id|>"
            "<|start_header_id|>assistant<|end_header_id|>\n\n[A boat.<|eot_id|>]"
            "<|start_header_id|>user<|end_header_id|>\n\nAnd?<|eot_id|>"
            "<|start_header_id|>assistant<|end_header_id|>\n\n[Ice.<|eot_id|>]");
}

TEST(ChatEncoder, LearnsTheThoughtOfTheLastAnswerAndNoEmptyOne) {
  EXPECT_EQ(bracketed(qwen3(), {{Role::User, "a"}, {Role::Assistant, "b"}}),
            "<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n[b<|im_end|>]\n");
  EXPECT_EQ(bracketed(qwen3(), {{Role::User, "a"}, {Role::Assistant, "<think>t</think>b"}}),
            "<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\n[<think>\nt\n</think>\n\nb<|im_end|>]\n");
  EXPECT_EQ(bracketed(qwen3(), {{Role::Assistant, "<think>t</think>b"}, {Role::User, "a"}}),
            "<|im_start|>assistant\n[b<|im_end|>]\n<|im_start|>user\na<|im_end|>\n");
}

// What the peers make of conversations; generate.py beside it names them.
const nlohmann::json& golden() {
  static const nlohmann::json shared = [] {
    std::ifstream file(TETHYS_SOURCE_DIR "/tests/golden/chat/golden.json");
    return nlohmann::json::parse(file);
  }();
  return shared;
}

Conversation conversation_of(const nlohmann::json& example) {
  Conversation conversation;
  for (const nlohmann::json& message : example.at("messages")) {
    const std::string role = message.at("role");
    conversation.push_back({role == "system" ? Role::System
                            : role == "user" ? Role::User
                                             : Role::Assistant,
                            message.at("content")});
  }
  return conversation;
}

std::vector<int32_t> question(const Tokenizer& tokenizer, const Conversation& conversation, Thinking thinking) {
  std::vector<int32_t> ids;
  ChatEncoder(tokenizer).encode_question(conversation, thinking, ids);
  return ids;
}

TEST(ChatEncoder, SpellsConversationsAsQwen3sTemplate) {
  ASSERT_GT(golden().at("qwen3").size(), 10);
  for (const nlohmann::json& example : golden().at("qwen3")) {
    EXPECT_EQ(qwen3().decode(encoded(qwen3(), conversation_of(example)).ids), example.at("text").get<std::string>());
  }
}

TEST(ChatEncoder, AsksQwen3WithTheIdsOfItsTemplate) {
  const Tokenizer tokenizer = Tokenizer::load(TETHYS_SOURCE_DIR "/.deps/tokenizers/qwen3/tokenizer.json");
  EXPECT_EQ(ChatEncoder(tokenizer).end_of_turn(), 151645);  // as the published model's configuration has it
  int questions = 0;
  for (const nlohmann::json& example : golden().at("qwen3")) {
    if (!example.contains("question")) continue;
    ++questions;
    const Conversation conversation = conversation_of(example);
    EXPECT_EQ(question(tokenizer, conversation, Thinking::Allow), example.at("question"));
    EXPECT_EQ(question(tokenizer, conversation, Thinking::Skip), example.at("question_without_thinking"));
  }
  EXPECT_GE(questions, 4);
}

TEST(ChatEncoder, AsksLlama3WithTheIdsOfMetasFormat) {
  const Tokenizer tokenizer = Tokenizer::load(TETHYS_SOURCE_DIR "/.deps/tokenizers/llama3/tokenizer.json");
  const ChatEncoder encoder(tokenizer);
  EXPECT_EQ(encoder.end_of_turn(), 128009);
  ASSERT_GT(golden().at("llama3").size(), 10);
  for (const nlohmann::json& example : golden().at("llama3")) {
    const Conversation conversation = conversation_of(example);
    const std::vector<int32_t> expected = example.at("question");
    EXPECT_EQ(question(tokenizer, conversation, Thinking::Allow), expected);
    EXPECT_EQ(question(tokenizer, conversation, Thinking::Skip), expected);  // it has no thoughts
    const std::vector<int32_t> learnt = encoded(tokenizer, conversation).ids;
    EXPECT_EQ(std::vector(expected.begin(), expected.end() - 4), learnt);  // all but the header of the next answer
  }
}

TEST(ChatEncoder, WhatIsSaidSpellsNoSpecialToken) {
  const Encoded chat = encoded(qwen3(), {{Role::User, "<|im_end|>"}, {Role::Assistant, "<|im_start|>"}});
  const auto count = [&](const char* token) {
    return std::count(chat.ids.begin(), chat.ids.end(), qwen3().special(token).value());
  };
  EXPECT_EQ(count("<|im_end|>"), 2);
  EXPECT_EQ(count("<|im_start|>"), 2);
}

// As the model finds the header when it is to answer, whatever the answer begins with.
TEST(ChatEncoder, AnAnswersHeaderHasTheSameIdsWhateverFollows) {
  const Tokenizer plain = tokenizer_with({"<|im_start|>", "<|im_end|>"});
  const Encoded one = encoded(plain, {{Role::Assistant, "x"}}), other = encoded(plain, {{Role::Assistant, "\nx"}});
  const size_t header = std::string("<|im_start|>assistant\n").size() - std::string("<|im_start|>").size() + 1;
  EXPECT_EQ(std::vector(one.ids.begin(), one.ids.begin() + static_cast<std::ptrdiff_t>(header)),
            std::vector(other.ids.begin(), other.ids.begin() + static_cast<std::ptrdiff_t>(header)));
  EXPECT_EQ(other.ids.size(), one.ids.size() + 1);
}

TEST(ChatEncoder, RefusesATokenizerWithoutATemplatesTokens) {
  const Tokenizer plain = tokenizer_with({"<|im_start|>"});
  EXPECT_FALSE(has_chat_format(plain));
  EXPECT_TRUE(has_chat_format(llama3()));
  try {
    const ChatEncoder encoder(plain);
    ADD_FAILURE() << "no error";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("no special tokens for chats: expected <|start_header_id|>"));
  }
}

}  // namespace
}  // namespace tethys
