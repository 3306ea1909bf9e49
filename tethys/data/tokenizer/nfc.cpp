#include "data/tokenizer/nfc.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "data/tokenizer/unicode.h"
#include "data/tokenizer/unicode_tables.h"

namespace tethys {
namespace {

// Hangul syllables compose by arithmetic (The Unicode Standard, 3.12).
constexpr char32_t kSyllables = 0xAC00, kLeads = 0x1100, kVowels = 0x1161, kTails = 0x11A7;
constexpr char32_t kLeadCount = 19, kVowelCount = 21, kTailCount = 28;
constexpr char32_t kSyllableCount = kLeadCount * kVowelCount * kTailCount;

struct Parts {
  char32_t first;
  char32_t second;  // 0: there is none
};

struct Tables {
  std::vector<uint8_t> combining;
  // Characters that a text in NFC may not hold, or only after some others: they send a text through the whole work.
  std::vector<bool> suspect;
  std::unordered_map<char32_t, Parts> parts;
  std::unordered_map<uint64_t, char32_t> composed;

  static uint64_t key(char32_t first, char32_t second) { return static_cast<uint64_t>(first) << 32 | second; }

  Tables() : combining(kStrayByte + 256), suspect(kStrayByte + 256) {
    for (const CombiningRange& range : combining_ranges()) {
      for (char32_t c = range.first; c <= range.last; ++c) {
        combining[c] = range.combining;
        suspect[c] = true;
      }
    }
    for (const Singleton& singleton : singletons()) {
      parts[singleton.character] = {singleton.to, 0};
      suspect[singleton.character] = true;
    }
    for (const Pair& pair : pairs()) {
      parts[pair.character] = {pair.first, pair.second};
      if (!pair.composes) {
        suspect[pair.character] = true;
        continue;
      }
      composed[key(pair.first, pair.second)] = pair.character;
      suspect[pair.second] = true;
    }
    for (char32_t c = kVowels; c < kVowels + kVowelCount; ++c) suspect[c] = true;
    for (char32_t c = kTails + 1; c < kTails + kTailCount; ++c) suspect[c] = true;
  }
};

const Tables& tables() {
  static const Tables tables;
  return tables;
}

void decompose(const Tables& tables, char32_t c, std::vector<char32_t>& out) {
  if (c >= kSyllables && c < kSyllables + kSyllableCount) {
    char32_t index = c - kSyllables;
    out.push_back(kLeads + index / (kVowelCount * kTailCount));
    out.push_back(kVowels + index % (kVowelCount * kTailCount) / kTailCount);
    if (index % kTailCount != 0) out.push_back(kTails + index % kTailCount);
    return;
  }
  auto found = tables.parts.find(c);
  if (found == tables.parts.end()) return out.push_back(c);
  decompose(tables, found->second.first, out);  // four steps deep at most
  if (found->second.second != 0) decompose(tables, found->second.second, out);
}

// Marks between two starters are put in the order of their classes, those of one class as they came.
void reorder(const Tables& tables, std::vector<char32_t>& text) {
  for (size_t begin = 0; begin < text.size();) {
    if (tables.combining[text[begin]] == 0) {
      ++begin;
      continue;
    }
    size_t end = begin;
    while (end < text.size() && tables.combining[text[end]] != 0) ++end;
    std::stable_sort(text.begin() + static_cast<std::ptrdiff_t>(begin), text.begin() + static_cast<std::ptrdiff_t>(end),
                     [&](char32_t a, char32_t b) { return tables.combining[a] < tables.combining[b]; });
    begin = end;
  }
}

// The character that two make, or 0.
char32_t compose_pair(const Tables& tables, char32_t first, char32_t second) {
  if (first >= kLeads && first < kLeads + kLeadCount && second >= kVowels && second < kVowels + kVowelCount) {
    return kSyllables + ((first - kLeads) * kVowelCount + (second - kVowels)) * kTailCount;
  }
  bool open_syllable =
      first >= kSyllables && first < kSyllables + kSyllableCount && (first - kSyllables) % kTailCount == 0;
  if (open_syllable && second > kTails && second < kTails + kTailCount) return first + (second - kTails);
  auto found = tables.composed.find(Tables::key(first, second));
  return found == tables.composed.end() ? 0 : found->second;
}

// A character composes with the last starter unless one between them blocks it: one of its own class or a higher one.
void compose(const Tables& tables, std::vector<char32_t>& text) {
  constexpr size_t kNone = SIZE_MAX;
  size_t starter = kNone, kept = 0;
  uint8_t last_class = 0;
  for (char32_t c : text) {
    uint8_t combining = tables.combining[c];
    bool adjacent = starter != kNone && starter + 1 == kept;
    if (starter != kNone && (adjacent || (last_class != 0 && last_class < combining))) {
      char32_t composed = compose_pair(tables, text[starter], c);
      if (composed != 0) {
        text[starter] = composed;
        continue;
      }
    }
    if (combining == 0) starter = kept;
    last_class = combining;
    text[kept++] = c;
  }
  text.resize(kept);
}

}  // namespace

std::string_view nfc(std::string_view text, std::string& storage) {
  size_t first = 0;
  while (first < text.size() && static_cast<uint8_t>(text[first]) < 0x80) ++first;
  if (first == text.size()) return text;
  const Tables& all = tables();
  bool suspect = false;
  for (size_t i = first; i < text.size() && !suspect;) {
    Character c = character_at(text, i);
    suspect = all.suspect[c.code];
    i += c.size;
  }
  if (!suspect) return text;
  std::vector<char32_t> characters;
  for (size_t i = 0; i < text.size();) {
    Character c = character_at(text, i);
    decompose(all, c.code, characters);
    i += c.size;
  }
  reorder(all, characters);
  compose(all, characters);
  storage.clear();
  for (char32_t c : characters) append_utf8(storage, c);
  return storage;
}

}  // namespace tethys
