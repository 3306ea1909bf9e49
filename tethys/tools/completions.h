// What may stand where the cursor is in a command line: asked by the scripts that `tethys completion` prints, each time
// anew, so what they offer is what the commands take.
//
//   completions(commands, {"train", "--graph.mode", "gr"}, {});   // {{"graph", ""}}
#pragma once

#include <string>
#include <vector>

#include "tools/command.h"

namespace tethys {

struct Completion {
  std::string text;     // in the place of the word
  std::string meaning;  // may be empty
  bool operator==(const Completion&) const = default;
};

// `words` follow the program's name; the last, which may be empty, is the one to complete. None where anything may
// stand, such as the path of a file. A word may be the "=" at which bash parts a flag from its value, which is then the
// word to complete.
std::vector<Completion> completions(const Commands& commands, const std::vector<std::string>& words,
                                    const std::vector<std::string>& recipes);

}  // namespace tethys
