#include "data/tokenizer/splitter.h"

#include "base/error.h"
#include "data/tokenizer/ascii_splitter.h"
#include "data/tokenizer/unicode.h"

namespace tethys {
namespace {

constexpr uint8_t kNotOther = kLetter | kNumber | kSpace;

// A character with its class, or, at the end of the text, one of size 0 and no class.
struct Seen {
  char32_t code = 0;
  size_t size = 0;
  uint8_t bits = 0;

  bool is(uint8_t any) const { return (bits & any) != 0; }
  bool other() const { return size != 0 && !is(kNotOther); }  // [^\s\p{L}\p{N}]
  bool line_break() const { return size != 0 && (code == '\n' || code == '\r'); }
};

class Scan {
 public:
  explicit Scan(std::string_view text) : text_(text), classes_(unicode_classes().data()) {}

  Seen at(size_t i) const {
    if (i >= text_.size()) return {};
    Character c = character_at(text_, i);
    return {c.code, c.size, classes_[c.code]};
  }

  // Past the characters from `i` on that have any of the bits.
  size_t past(size_t i, uint8_t any) const {
    for (Seen c = at(i); c.is(any); c = at(i)) i += c.size;
    return i;
  }

  size_t past_digits(size_t i, int most) const {
    Seen c = at(i);
    for (int n = 0; n < most && c.is(kNumber); ++n) {
      i += c.size;
      c = at(i);
    }
    return i;
  }

  size_t past_other(size_t i) const {
    for (Seen c = at(i); c.other(); c = at(i)) i += c.size;
    return i;
  }

  size_t past_line_breaks(size_t i, bool slashes = false) const {
    while (i < text_.size() && (text_[i] == '\n' || text_[i] == '\r' || (slashes && text_[i] == '/'))) ++i;
    return i;
  }

  // 's|'t|'re|'ve|'m|'ll|'d from `i` on, or `i`. Without case, "s" is also U+017F, the long s.
  size_t past_contraction(size_t i, bool any_case) const {
    if (i >= text_.size() || text_[i] != '\'') return i;
    char first = letter(i + 1, any_case), second = letter(i + 2, any_case);
    if (first == 's' || first == 't' || first == 'm' || first == 'd') return i + 2;
    if ((first == 'r' && second == 'e') || (first == 'v' && second == 'e') || (first == 'l' && second == 'l')) {
      return i + 3;
    }
    if (any_case && at(i + 1).code == 0x17F) return i + 1 + at(i + 1).size;
    return i;
  }

  // \s*[\r\n]+|\s+(?!\S)|\s+ (the first only if `line_breaks`), from white space on.
  size_t past_white_space(size_t begin, bool line_breaks) const {
    size_t end = begin, last = begin, after_break = 0;
    for (Seen c = at(end); c.is(kSpace); c = at(end)) {
      last = end;
      end += c.size;
      if (c.line_break()) after_break = end;
    }
    if (line_breaks && after_break != 0) return after_break;
    return end < text_.size() && last > begin ? last : end;
  }

 private:
  char letter(size_t i, bool any_case) const {
    if (i >= text_.size()) return 0;
    char c = text_[i];
    return any_case && c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }

  std::string_view text_;
  const uint8_t* classes_;
};

size_t gpt2_piece_end(std::string_view text, size_t begin) {
  Scan scan(text);
  if (size_t end = scan.past_contraction(begin, false); end != begin) return end;
  Seen c = scan.at(begin);
  size_t word = begin;
  if (c.code == ' ') {
    Seen next = scan.at(begin + 1);
    if (next.is(kLetter | kNumber) || next.other()) {
      c = next;
      word = begin + 1;
    }
  }
  if (c.is(kLetter)) return scan.past(word, kLetter);
  if (c.is(kNumber)) return scan.past(word, kNumber);
  if (c.other()) return scan.past_other(word);
  return scan.past_white_space(begin, false);
}

// The alternatives that Llama 3's, Qwen's and GPT-4o's patterns share, after those for words.
size_t past_no_word(const Scan& scan, Seen c, size_t begin, int digits, bool slashes) {
  if (c.is(kNumber)) return scan.past_digits(begin, digits);
  size_t mark = c.code == ' ' ? begin + 1 : begin;
  if (scan.at(mark).other()) return scan.past_line_breaks(scan.past_other(mark), slashes);
  return scan.past_white_space(begin, true);
}

// (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|…
size_t words_piece_end(std::string_view text, size_t begin, int digits) {
  Scan scan(text);
  if (size_t end = scan.past_contraction(begin, true); end != begin) return end;
  Seen c = scan.at(begin);
  if (c.is(kLetter)) return scan.past(begin, kLetter);
  if (!c.is(kNumber) && !c.line_break()) {
    size_t end = scan.past(begin + c.size, kLetter);
    if (end != begin + c.size) return end;
  }
  return past_no_word(scan, c, begin, digits, false);
}

size_t llama3_piece_end(std::string_view text, size_t begin) { return words_piece_end(text, begin, 3); }
size_t qwen2_piece_end(std::string_view text, size_t begin) { return words_piece_end(text, begin, 1); }

// With A = [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}], which ends words of capitals, and B = [\p{Ll}\p{Lm}\p{Lo}\p{M}]:
bool ends_capitals(Seen c) { return c.is(kLetter | kMark) && !c.is(kLower); }
bool is_small(Seen c) { return c.is(kLetter | kMark) && !c.is(kUpper); }

// A*B+ from `i` on, or `i`: if B does not follow the As, A* gives back as far as the last of them that is a B too.
size_t past_small(const Scan& scan, size_t i) {
  size_t end = i, after_both = i;
  Seen c = scan.at(end);
  for (; ends_capitals(c); c = scan.at(end)) {
    end += c.size;
    if (is_small(c)) after_both = end;
  }
  if (!is_small(c)) return after_both;
  for (; is_small(c); c = scan.at(end)) end += c.size;
  return end;
}

size_t past_capitals(const Scan& scan, size_t i) {
  for (Seen c = scan.at(i); ends_capitals(c); c = scan.at(i)) i += c.size;
  return i;
}

size_t gpt4o_piece_end(std::string_view text, size_t begin) {
  Scan scan(text);
  Seen c = scan.at(begin);
  bool may_lead = !c.is(kLetter | kNumber) && !c.line_break();  // [^\r\n\p{L}\p{N}]?
  for (auto past : {past_small, past_capitals}) {
    if (may_lead) {
      size_t end = past(scan, begin + c.size);
      if (end != begin + c.size) return scan.past_contraction(end, true);
    }
    size_t end = past(scan, begin);
    if (end != begin) return scan.past_contraction(end, true);
  }
  return past_no_word(scan, c, begin, 3, true);
}

size_t single_digit_end(std::string_view text, size_t begin) {
  Scan scan(text);
  size_t end = begin;
  for (Seen c = scan.at(begin); c.size != 0; c = scan.at(end)) {
    if (c.is(kNumber)) return end == begin ? end + c.size : end;
    end += c.size;
  }
  return end;
}

size_t digit_run_end(std::string_view text, size_t begin) {
  Scan scan(text);
  size_t end = scan.past(begin, kNumber);
  if (end != begin) return end;
  for (Seen c = scan.at(begin); c.size != 0 && !c.is(kNumber); c = scan.at(end)) end += c.size;
  return end;
}

size_t digit_triple_end(std::string_view text, size_t begin) {
  Scan scan(text);
  size_t end = scan.past_digits(begin, 3);
  return end != begin ? end : digit_run_end(text, begin);
}

constexpr Splitter kSplitters[] = {
    {"the one of `tethys tokenizer train`", kAsciiPattern, ascii_piece_end},
    {"GPT-2's", R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", gpt2_piece_end},
    {"single digits", R"(\p{N})", single_digit_end, false},
    {"runs of digits", R"(\p{N}+)", digit_run_end, false},
    {"digits by three", R"(\p{N}{1,3})", digit_triple_end, false},
    {"Llama 3's",
     R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     llama3_piece_end},
    {"Qwen2's and Qwen3's",
     R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     qwen2_piece_end},
    {"GPT-4o's",
     R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
     R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
     R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     gpt4o_piece_end},
};

}  // namespace

const Splitter& ascii_classes() { return kSplitters[0]; }
const Splitter& gpt2_words() { return kSplitters[1]; }
const Splitter& single_digits() { return kSplitters[2]; }
const Splitter& digit_runs() { return kSplitters[3]; }

const Splitter* find_splitter(std::string_view pattern) {
  for (const Splitter& splitter : kSplitters) {
    if (splitter.pattern == pattern) return &splitter;
  }
  return nullptr;
}

std::string splitter_names() {
  std::string names;
  for (const Splitter& splitter : kSplitters) {
    names += names.empty() ? "" : ", ";
    names += splitter.name;
  }
  return names;
}

}  // namespace tethys
