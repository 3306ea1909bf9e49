// ChatEncoder: the tokens of a conversation as the model's template spells it, and which of them are learnt: the
// assistant's answers, each with the token that ends its turn. The template is known by the special tokens that the
// tokenizer has: Llama 3's headers, or ChatML's, with Qwen3's thoughts where there are tokens for them.
//
// It belongs to one thread and must not outlive its Tokenizer.
//
//   ChatEncoder encoder(tokenizer);
//   encoder.encode(conversation, ids, learnt);             // to learn
//   encoder.encode_question(conversation, Thinking::Allow, ids);   // to be answered
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/chat/conversation.h"
#include "data/tokenizer/encoder.h"

namespace tethys {

struct ChatFormat;

// Whether a model that has thoughts may have one before its answer.
enum class Thinking : uint8_t { Allow, Skip };

// Whether the tokenizer has the special tokens of a template that is known.
bool has_chat_format(const Tokenizer& tokenizer);

class ChatEncoder {
 public:
  // UserError if the tokenizer has no template's special tokens.
  explicit ChatEncoder(const Tokenizer& tokenizer);

  // Appends to both, a flag for each id. What a message says is only text: it can spell no special token.
  void encode(const Conversation& conversation, std::vector<int32_t>& ids, std::vector<bool>& learnt);
  // Appends what was said so far and the header of the answer that is to follow; with Skip, where the model has
  // thoughts, an empty one too.
  void encode_question(const Conversation& conversation, Thinking thinking, std::vector<int32_t>& ids);
  // The token that ends an answer.
  int32_t end_of_turn() const;

 private:
  // The caller's, a flag for each id.
  struct Output {
    std::vector<int32_t>& ids;
    std::vector<bool>& learnt;
  };

  // Append, learnt or not.
  void token(std::string_view special, bool is_learnt, Output& out) const;
  void text(std::string_view text, bool is_learnt, Output& out);
  void header(Role role, std::string_view then, Output& out);
  void thought(std::string_view text, bool is_learnt, Output& out);
  void answer(const Message& message, bool is_after_the_last_question, bool is_last, Output& out);
  void turns(const Conversation& conversation, Output& out);

  const Tokenizer& tokenizer_;
  const ChatFormat& format_;
  bool thinks_;
  Encoder encoder_;
};

}  // namespace tethys
