// What a run reads: the token streams that the options of [data] name.
#pragma once

#include <string>

#include "data/index/token_stream.h"
#include "data/loader/batch.h"
#include "data/progress.h"

namespace tethys {

class Config;
class Tokenizer;

struct TrainingData {
  TokenStream training;
  TokenStream validation;  // empty for a raw token file
  RowOrder order = RowOrder::Shuffled;
  std::string fingerprint;  // of the text: what a resumed run compares
  int64_t files = 1;
  int64_t skipped_lines = 0;  // bad ones, of JSON lines
};

// That of data.tokenizer. UserError if it has more tokens than the model.
Tokenizer load_tokenizer(const Config& config);

// Opens data.tokens, or else the index of data.text, which is built in `cache_folder` unless data.cache_dir names
// another. UserError if neither is set, or the tokenizer or the text cannot be read.
TrainingData open_training_data(const Config& config, const std::string& cache_folder, const Progress& progress);

}  // namespace tethys
