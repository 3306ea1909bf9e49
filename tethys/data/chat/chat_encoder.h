// ChatEncoder: the tokens of a conversation as the model's template spells it, and which of them are learnt: the
// assistant's answers, each with the token that ends its turn. The template is known by the special tokens that the
// tokenizer has: Llama 3's headers, or ChatML's, with Qwen3's thoughts where there are tokens for them.
//
// It belongs to one thread and must not outlive its Tokenizer.
//
//   ChatEncoder encoder(tokenizer);
//   encoder.encode(conversation, ids, learnt);
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/chat/conversation.h"
#include "data/tokenizer/encoder.h"

namespace tethys {

struct ChatFormat;

// Whether the tokenizer has the special tokens of a template that is known.
bool has_chat_format(const Tokenizer& tokenizer);

class ChatEncoder {
 public:
  // UserError if the tokenizer has no template's special tokens.
  explicit ChatEncoder(const Tokenizer& tokenizer);

  // Appends to both, a flag for each id. What a message says is only text: it can spell no special token.
  void encode(const Conversation& conversation, std::vector<int32_t>& ids, std::vector<bool>& learnt);

 private:
  // Appends, learnt or not.
  void token(std::string_view special, bool is_learnt);
  void text(std::string_view text, bool is_learnt);
  void answer(const Message& message, bool is_after_the_last_question, bool is_last);

  const Tokenizer& tokenizer_;
  const ChatFormat& format_;
  bool thinks_;
  Encoder encoder_;
  std::vector<int32_t>* ids_ = nullptr;  // of the conversation in work
  std::vector<bool>* learnt_ = nullptr;
};

}  // namespace tethys
