// Splitter: cuts text into the pieces within which BPE merges. Each is known by the regex that stands for it in
// tokenizer.json, and is a hand-written scanner that agrees with that regex: a value, chosen by the pattern.
//
//   const Splitter& splitter = ascii_classes();
//   splitter.for_each("def f1():", [](std::string_view piece) { … });   // "def", " f", "1", "():"
#pragma once

#include <cstddef>
#include <string_view>

namespace tethys {

struct Splitter {
  std::string_view pattern;
  // The end of the piece that begins at `begin` < text.size(); always beyond `begin`.
  size_t (*piece_end)(std::string_view text, size_t begin);

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

// The splitter whose pattern this is, or null.
const Splitter* find_splitter(std::string_view pattern);

}  // namespace tethys
