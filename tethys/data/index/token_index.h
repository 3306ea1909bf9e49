// TokenIndex: a corpus tokenised once, kept on disk. It holds the tokens and where the documents begin, whatever the
// rows that are cut from them later; each document ends with the end-of-text token. A share of the documents is held
// out for validation, chosen by content: the same ones wherever the files lie, and a copy goes where its original goes.
//
// The file is mapped, so a corpus larger than memory can be read. It is built anew when the tokenizer, the list of
// files, the size or time of one of them, or what is taken from a line has changed, and it appears by rename, complete.
//
//   TokenIndex index = open_index(tokenizer, {.files = {"corpus/**/*.txt"}, .folder = "cache"});
//   index.training.size();
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/index/token_stream.h"
#include "data/progress.h"
#include "data/sources/lines.h"
#include "data/tokenizer/tokenizer.h"

namespace tethys {

struct Corpus {
  std::vector<std::string> files;  // paths and globs, as find_text_files takes them
  LineOptions lines = {};          // of the files that hold lines
  std::string folder;              // where the index is kept; made if missing
  std::string name = {};           // of one source among several
  double validation_share = 0.01;  // of the documents; at least one if there are two
  int threads = 0;                 // all
  Progress progress = {};
};

struct TokenIndex {
  TokenStream training;
  TokenStream validation;
  int64_t training_bytes = 0;  // of text, before it was tokenised
  int64_t validation_bytes = 0;
  int64_t files = 0;
  int64_t skipped_lines = 0;  // bad ones
  // Of all tokens and documents, in order: what a checkpoint can compare on resume.
  std::string fingerprint;
  std::string path;
  bool built = false;  // now, not found on disk
};

// A file is a document; of JSON lines each line is one, of Parquet each row, and a name in .gz or .zst is that of a
// compressed file. UserError if the share is not in [0, 1), a pattern matches nothing, a file cannot be read, a line is
// bad, or no file holds text.
TokenIndex open_index(const Tokenizer& tokenizer, const Corpus& corpus);

}  // namespace tethys
