#include "base/glob.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tethys {
namespace {

// A pattern is a row of states, of which several are alive at once: no backtracking.
enum class Step : uint8_t {
  Char,             // takes that character
  One,              // takes one character of a component
  Within,           // takes any number of characters of a component
  Across,           // takes any number of characters
  Skip,             // takes nothing: goes to the next state or to the one after it
  ThroughSeparator  // takes any number of characters, and leaves by a separator
};

struct State {
  Step step;
  char character = 0;
};

std::vector<State> compile(std::string_view pattern, char separator) {
  std::vector<State> states;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const bool starts_component = i == 0 || pattern[i - 1] == separator;
    if (pattern[i] == '?') {
      states.push_back({Step::One});
    } else if (pattern[i] != '*') {
      states.push_back({Step::Char, pattern[i]});
    } else if (i + 1 == pattern.size() || pattern[i + 1] != '*') {
      states.push_back({Step::Within});
    } else if (starts_component && i + 2 < pattern.size() && pattern[i + 2] == separator) {
      states.push_back({Step::Skip});
      states.push_back({Step::ThroughSeparator});
      i += 2;
    } else {
      states.push_back({Step::Across});
      i += 1;
    }
  }
  return states;
}

// Marks the state alive, and those it reaches without taking a character.
void enter(const std::vector<State>& states, size_t state, std::vector<bool>& alive) {
  while (!alive[state]) {
    alive[state] = true;
    if (state == states.size()) return;
    const Step step = states[state].step;
    if (step == Step::Skip) enter(states, state + 2, alive);
    if (step != Step::Skip && step != Step::Within && step != Step::Across) return;
    ++state;
  }
}

}  // namespace

bool glob_match(std::string_view pattern, std::string_view name, char separator) {
  const std::vector<State> states = compile(pattern, separator);
  std::vector<bool> alive(states.size() + 1, false);
  enter(states, 0, alive);
  for (char c : name) {
    std::vector<bool> next(states.size() + 1, false);
    for (size_t i = 0; i < states.size(); ++i) {
      if (!alive[i]) continue;
      const auto [step, character] = states[i];
      const bool inside = c != separator;
      if (step == Step::Char && c == character) enter(states, i + 1, next);
      if (step == Step::One && inside) enter(states, i + 1, next);
      if ((step == Step::Within && inside) || step == Step::Across) enter(states, i, next);
      if (step == Step::ThroughSeparator) {
        enter(states, i, next);
        if (!inside) enter(states, i + 1, next);
      }
    }
    alive = std::move(next);
  }
  return alive.back();
}

std::string with_stars(std::string_view name) {
  std::string result;
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('.', begin), name.size());
    const std::string_view part = name.substr(begin, end - begin);
    const bool number = !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
    if (begin > 0) result += '.';
    result += number ? "*" : part;
    begin = end + 1;
  }
  return result;
}

}  // namespace tethys
