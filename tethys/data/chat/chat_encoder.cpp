#include "data/chat/chat_encoder.h"

#include <algorithm>

#include "base/error.h"

namespace tethys {

// A turn is spelt: before_role, the role, after_role, header_end, what is said, end_of_turn, after_turn. Of these
// before_role, after_role and end_of_turn are special tokens, or empty.
struct ChatFormat {
  std::string_view begin;  // special token before the first turn, or empty
  std::string_view before_role, after_role, header_end;
  std::string_view end_of_turn, after_turn;
  bool trims;  // white space around what is said
};

namespace {

constexpr ChatFormat kFormats[] = {
    {"<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "\n\n", "<|eot_id|>", "", true},
    {"", "<|im_start|>", "", "\n", "<|im_end|>", "\n", false},
};
constexpr std::string_view kThought = "<think>", kThoughtEnd = "</think>";
constexpr std::string_view kWhiteSpace = " \t\n\r\v\f";

const ChatFormat* format_of(const Tokenizer& tokenizer) {
  for (const ChatFormat& format : kFormats) {
    const auto has = [&](std::string_view token) { return token.empty() || tokenizer.special(token); };
    if (has(format.begin) && has(format.before_role) && has(format.after_role) && has(format.end_of_turn)) {
      return &format;
    }
  }
  return nullptr;
}

const ChatFormat& known_format(const Tokenizer& tokenizer) {
  const ChatFormat* format = format_of(tokenizer);
  if (format == nullptr) {
    user_error(
        "the tokenizer has no special tokens for chats: expected <|start_header_id|>, <|end_header_id|> and "
        "<|eot_id|>, "
        "as Llama 3 has, or <|im_start|> and <|im_end|>, as Qwen3 has, among its added_tokens");
  }
  return *format;
}

// Without what of `characters` stands at its front and back.
std::string_view stripped(std::string_view text, std::string_view characters) {
  const size_t begin = text.find_first_not_of(characters);
  return begin == std::string_view::npos ? "" : text.substr(begin, text.find_last_not_of(characters) + 1 - begin);
}

std::string_view without_first_newlines(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of('\n'), text.size()));
}

// What an answer says, and before it what was thought, if anything.
struct Answer {
  std::string_view thought, said;
};

Answer divide(std::string_view text) {
  const size_t first = text.find(kThoughtEnd), last = text.rfind(kThoughtEnd);
  if (first == std::string_view::npos) return {"", text};
  std::string_view thought = text.substr(0, first);
  const size_t begin = thought.rfind(kThought);
  if (begin != std::string_view::npos) thought.remove_prefix(begin + kThought.size());
  return {stripped(thought, "\n"), without_first_newlines(text.substr(last + kThoughtEnd.size()))};
}

}  // namespace

bool has_chat_format(const Tokenizer& tokenizer) { return format_of(tokenizer) != nullptr; }

ChatEncoder::ChatEncoder(const Tokenizer& tokenizer)
    : tokenizer_(tokenizer),
      format_(known_format(tokenizer)),
      thinks_(tokenizer.special(kThought) && tokenizer.special(kThoughtEnd)),
      encoder_(tokenizer) {}

void ChatEncoder::token(std::string_view special, bool is_learnt, Output& out) const {
  if (special.empty()) return;
  out.ids.push_back(tokenizer_.special(special).value());
  out.learnt.push_back(is_learnt);
}

void ChatEncoder::text(std::string_view text, bool is_learnt, Output& out) {
  encoder_.encode_document(text, out.ids);
  out.learnt.resize(out.ids.size(), is_learnt);
}

// `then` is what follows it, encoded together with it.
void ChatEncoder::header(Role role, std::string_view then, Output& out) {
  token(format_.before_role, false, out);
  std::string rest(name_of(role));
  if (!format_.after_role.empty()) {
    text(rest, false, out);
    token(format_.after_role, false, out);
    rest.clear();
  }
  text(rest.append(format_.header_end).append(then), false, out);
}

void ChatEncoder::thought(std::string_view said, bool is_learnt, Output& out) {
  token(kThought, is_learnt, out);
  text("\n" + std::string(said) + "\n", is_learnt, out);
  token(kThoughtEnd, is_learnt, out);
  text("\n\n", is_learnt, out);
}

// An answer is encoded apart from its header, as the model finds the header when it is to answer.
void ChatEncoder::answer(const Message& message, bool is_after_the_last_question, bool is_last, Output& out) {
  const std::string_view whole = format_.trims ? stripped(message.text, kWhiteSpace) : std::string_view(message.text);
  if (!thinks_) return text(whole, true, out);
  const Answer parts = divide(whole);
  const bool has_thought = !parts.thought.empty();
  // Thoughts before the last question are forgotten; an answer without one has an empty one, which is not learnt.
  if (!is_after_the_last_question || !(is_last || has_thought)) return text(parts.said, true, out);
  thought(parts.thought, has_thought, out);
  text(without_first_newlines(parts.said), true, out);
}

void ChatEncoder::turns(const Conversation& conversation, Output& out) {
  size_t last_question = conversation.size();  // none
  for (size_t i = 0; i < conversation.size(); ++i) {
    if (conversation[i].role == Role::User) last_question = i;
  }
  token(format_.begin, false, out);
  for (size_t i = 0; i < conversation.size(); ++i) {
    const Message& message = conversation[i];
    const bool is_answer = message.role == Role::Assistant;
    if (is_answer) {
      header(message.role, "", out);
      answer(message, i > last_question, i + 1 == conversation.size(), out);
    } else {
      header(message.role, format_.trims ? stripped(message.text, kWhiteSpace) : std::string_view(message.text), out);
    }
    token(format_.end_of_turn, is_answer, out);
    text(format_.after_turn, false, out);
  }
}

void ChatEncoder::encode(const Conversation& conversation, std::vector<int32_t>& ids, std::vector<bool>& learnt) {
  Output out{ids, learnt};
  turns(conversation, out);
}

void ChatEncoder::encode_question(const Conversation& conversation, Thinking thinking, std::vector<int32_t>& ids) {
  std::vector<bool> learnt(ids.size());
  Output out{ids, learnt};
  turns(conversation, out);
  header(Role::Assistant, "", out);
  if (thinks_ && thinking == Thinking::Skip) thought("", false, out);
}

int32_t ChatEncoder::end_of_turn() const { return tokenizer_.special(format_.end_of_turn).value(); }

}  // namespace tethys
