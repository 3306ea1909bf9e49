// Training a byte-level BPE vocabulary: words are counted over all files, then the most frequent pair of neighbouring
// symbols within words is merged, again and again (Sennrich et al. 2016). The result depends on the files and the
// options alone: ties go to the pair with the lower ids, as in Hugging Face's trainer, with which it agrees.
//
//   Tokenizer tokenizer(train_bpe(find_text_files({"corpus/**/*.txt"}), {.vocab_size = 2048}).bpe);
//   tokenizer.save("tokenizer.json");
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/progress.h"
#include "data/sources/lines.h"
#include "data/tokenizer/bpe.h"

namespace tethys {

struct BpeTraining {
  // In all, bytes and special tokens included. Fewer result if no pair is left that occurs twice.
  int64_t vocab_size = 0;
  std::vector<std::string> specials = {kEndOfText};
  LineOptions lines = {};  // of the files that hold lines
  int threads = 0;         // all
  Progress progress = {};
};

// How often each piece that the splitter makes occurs.
using WordCounts = std::unordered_map<std::string, int64_t>;

struct CountedWords {
  WordCounts words;
  int64_t skipped_lines = 0;  // bad ones
};

struct TrainedBpe {
  Bpe bpe;
  int64_t skipped_lines = 0;  // bad ones
};

// UserError if a file cannot be read, a line is bad, there is no text in any, or the vocabulary is too small for the
// bytes.
TrainedBpe train_bpe(const std::vector<std::string>& files, const BpeTraining& options);

// Of the documents of all files (data/sources/documents.h), several files at a time.
CountedWords count_words(const std::vector<std::string>& files, const BpeTraining& options);

// The second half: from counts to merges.
Bpe learn_merges(const WordCounts& words, const BpeTraining& options);

}  // namespace tethys
