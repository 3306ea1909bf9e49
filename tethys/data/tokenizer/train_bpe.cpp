#include "data/tokenizer/train_bpe.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <queue>
#include <tuple>
#include <unordered_set>

#include "base/error.h"
#include "base/number.h"
#include "data/parallel.h"
#include "data/sources/documents.h"
#include "data/tokenizer/byte_level.h"

namespace tethys {
namespace {

struct Pair {
  int32_t left;
  int32_t right;
  auto operator<=>(const Pair&) const = default;
};

struct PairHash {
  size_t operator()(Pair pair) const {
    return (static_cast<uint64_t>(static_cast<uint32_t>(pair.left)) << 32 | static_cast<uint32_t>(pair.right)) *
           0x9e3779b97f4a7c15ULL;
  }
};

struct Word {
  std::vector<int32_t> symbols;
  int64_t count;
};

struct Occurrences {
  int64_t count = 0;
  std::vector<uint32_t> words;  // those that hold the pair, and perhaps some that did
};

// An entry of the heap: the count when it was pushed, which is a bound on the pair's count now, or else a newer entry
// holds one.
struct Best {
  int64_t count;
  Pair pair;
  bool operator<(const Best& other) const { return std::tie(count, other.pair) < std::tie(other.count, pair); }
};

class Learner {
 public:
  Learner(const WordCounts& counts, const BpeTraining& options) : options_(options) {
    std::array<int32_t, 256> byte_ids;
    for (uint8_t byte : byte_level_order()) {
      byte_ids[byte] = static_cast<int32_t>(bpe_.tokens.size());
      add_token(std::string(1, static_cast<char>(byte)));
    }
    for (const auto& [text, count] : counts) {
      Word word{{}, count};
      for (char byte : text) word.symbols.push_back(byte_ids[static_cast<uint8_t>(byte)]);
      words_.push_back(std::move(word));
    }
    for (uint32_t index = 0; index < words_.size(); ++index) {
      const std::vector<int32_t>& symbols = words_[index].symbols;
      for (size_t i = 0; i + 1 < symbols.size(); ++i) change({symbols[i], symbols[i + 1]}, words_[index].count, index);
    }
    for (const auto& [pair, occurrences] : pairs_) heap_.push({occurrences.count, pair});
    risen_.clear();
  }

  Bpe learn() {
    int64_t target = options_.vocab_size - static_cast<int64_t>(options_.specials.size());
    int64_t notch = std::max<int64_t>(1, target / 100);
    report(options_.progress, "learning merges", 0, target);
    while (static_cast<int64_t>(bpe_.tokens.size()) < target && !heap_.empty()) {
      Best best = heap_.top();
      heap_.pop();
      auto found = pairs_.find(best.pair);
      if (found == pairs_.end()) continue;
      if (found->second.count != best.count) {
        best.count = found->second.count;
        heap_.push(best);
        continue;
      }
      if (best.count < 2) break;
      merge(best.pair, std::move(found->second.words));
      auto done = static_cast<int64_t>(bpe_.tokens.size());
      if (done % notch == 0) report(options_.progress, "learning merges", done, target);
    }
    // Where no pair is left that occurs twice, that is all.
    report(options_.progress, "learning merges", target, target);
    for (const std::string& special : options_.specials) {
      AddedToken token;
      token.id = static_cast<int32_t>(bpe_.vocab_size());
      token.text = special;
      bpe_.added.push_back(std::move(token));
    }
    return std::move(bpe_);
  }

 private:
  // Two merges may spell the same token: it keeps its first id.
  int32_t add_token(const std::string& bytes) {
    auto [entry, added] = ids_.try_emplace(bytes, static_cast<int32_t>(bpe_.tokens.size()));
    if (added) bpe_.tokens.push_back(bytes);
    return entry->second;
  }

  void change(Pair pair, int64_t by, uint32_t word) {
    Occurrences& occurrences = pairs_[pair];
    occurrences.count += by;
    if (by < 0) return;
    if (occurrences.words.empty() || occurrences.words.back() != word) occurrences.words.push_back(word);
    risen_.push_back(pair);
  }

  void merge(Pair pair, std::vector<uint32_t> words) {
    int32_t merged =
        add_token(bpe_.tokens[static_cast<size_t>(pair.left)] + bpe_.tokens[static_cast<size_t>(pair.right)]);
    // A pair may come back, when a later merge spells one of its tokens anew: its rank stays that of the first time.
    if (merged_.insert(pair).second) bpe_.merges.push_back({pair.left, pair.right, merged});
    for (uint32_t word : words) merge_in(word, pair, merged);
    pairs_.erase(pair);
    std::sort(risen_.begin(), risen_.end());
    risen_.erase(std::unique(risen_.begin(), risen_.end()), risen_.end());
    for (Pair risen : risen_) heap_.push({pairs_[risen].count, risen});
    risen_.clear();
  }

  void merge_in(uint32_t index, Pair pair, int32_t merged) {
    std::vector<int32_t>& symbols = words_[index].symbols;
    int64_t count = words_[index].count;
    size_t kept = 0;
    for (size_t i = 0; i < symbols.size(); ++i) {
      bool match = symbols[i] == pair.left && i + 1 < symbols.size() && symbols[i + 1] == pair.right;
      if (!match) {
        symbols[kept++] = symbols[i];
        continue;
      }
      if (kept > 0) {
        change({symbols[kept - 1], pair.left}, -count, index);
        change({symbols[kept - 1], merged}, count, index);
      }
      if (i + 2 < symbols.size()) {
        change({pair.right, symbols[i + 2]}, -count, index);
        change({merged, symbols[i + 2]}, count, index);
      }
      symbols[kept++] = merged;
      ++i;
    }
    symbols.resize(kept);
  }

  const BpeTraining& options_;
  Bpe bpe_;
  std::unordered_map<std::string, int32_t> ids_;
  std::vector<Word> words_;
  std::unordered_map<Pair, Occurrences, PairHash> pairs_;
  std::priority_queue<Best> heap_;
  std::unordered_set<Pair, PairHash> merged_;
  std::vector<Pair> risen_;  // pairs that became more frequent by the merge in work
};

void check(const BpeTraining& options) {
  auto least = static_cast<int64_t>(256 + options.specials.size());
  if (options.vocab_size < least) {
    user_error("a byte-level vocabulary of {} is too small: expected at least {}, 256 bytes and {} special tokens",
               options.vocab_size, least, options.specials.size());
  }
  for (size_t i = 0; i < options.specials.size(); ++i) {
    const std::string& special = options.specials[i];
    if (special.empty()) user_error("a special token is empty");
    if (std::find(options.specials.begin(), options.specials.begin() + static_cast<std::ptrdiff_t>(i), special) !=
        options.specials.begin() + static_cast<std::ptrdiff_t>(i)) {
      user_error("the special token {} is named twice", special);
    }
  }
}

}  // namespace

CountedWords count_words(const std::vector<std::string>& files, const BpeTraining& options) {
  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  using Counter = std::unordered_map<std::string, int64_t, TextHash, std::equal_to<>>;
  std::vector<Counter> counters(static_cast<size_t>(thread_count(options.threads)));
  std::vector<int64_t> skipped(files.size());
  BytesRead read(files, "counting words", options.progress);
  parallel_for(static_cast<int64_t>(files.size()), options.threads, [&](int worker, int64_t index) {
    Counter& counter = counters[static_cast<size_t>(worker)];
    const auto count = [&](std::string_view word) {
      auto found = counter.find(word);
      if (found != counter.end()) {
        ++found->second;
      } else {
        counter.emplace(word, 1);
      }
    };
    const auto file = static_cast<size_t>(index);
    skipped[file] = for_each_document(
        files[file], options.lines, [&](const std::string& text, int64_t) { ascii_classes().for_each(text, count); },
        [&](int64_t bytes) { read.add(bytes); });
  });
  read.finish();
  CountedWords all{{}, std::accumulate(skipped.begin(), skipped.end(), int64_t{0})};
  for (const Counter& counter : counters) {
    for (const auto& [word, count] : counter) all.words[word] += count;
  }
  return all;
}

Bpe learn_merges(const WordCounts& words, const BpeTraining& options) {
  check(options);
  return Learner(words, options).learn();
}

TrainedBpe train_bpe(const std::vector<std::string>& files, const BpeTraining& options) {
  check(options);
  const CountedWords counted_words = count_words(files, options);
  if (counted_words.words.empty()) {
    user_error("there is no text to learn a vocabulary from: {} without any",
               counted(static_cast<int64_t>(files.size()), "file"));
  }
  return {learn_merges(counted_words.words, options), counted_words.skipped_lines};
}

}  // namespace tethys
