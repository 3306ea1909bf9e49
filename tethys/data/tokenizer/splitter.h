// Splitter: cuts text into the pieces within which BPE merges. Each is known by the regex that stands for it in
// tokenizer.json, and is a hand-written scanner that agrees with that regex: a value, chosen by the pattern.
//
//   const Splitter& splitter = *find_splitter(pattern);
//   splitter.for_each("def f1():", [](std::string_view piece) { … });   // "def", " f", "1", "():"
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tethys {

struct Splitter {
  std::string_view name;
  std::string_view pattern;
  // The end of the piece that begins at `begin` < text.size(); always beyond `begin`.
  size_t (*piece_end)(std::string_view text, size_t begin);
  // Whether the pattern matches every piece. If not, what lies between matches is a piece too.
  bool matches_all = true;

  template <typename Function>
  void for_each(std::string_view text, Function&& function) const {
    for (size_t begin = 0; begin < text.size();) {
      size_t end = piece_end(text, begin);
      function(text.substr(begin, end - begin));
      begin = end;
    }
  }
};

// Letters (ASCII ones and everything beyond ASCII) and marks, each run with at most one space before it; digits in
// groups of up to three; white space up to its last line break; white space but for the one character before a word.
// Only ASCII classes: no table of Unicode that could differ between versions.
const Splitter& ascii_classes();

// What Hugging Face's ByteLevel does by itself: the pattern of GPT-2.
const Splitter& gpt2_words();

// Each number character apart, or runs of them: what Hugging Face calls Digits.
const Splitter& single_digits();
const Splitter& digit_runs();

// The splitter whose pattern this is, or null.
const Splitter* find_splitter(std::string_view pattern);

// The names of those that find_splitter finds, for errors: "GPT-2's, Llama 3's, …".
std::string splitter_names();

}  // namespace tethys
