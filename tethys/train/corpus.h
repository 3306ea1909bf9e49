// What a run reads: the token streams that the options of [data] name.
#pragma once

#include <string>
#include <vector>

#include "data/index/token_stream.h"
#include "data/loader/batch.h"
#include "data/progress.h"
#include "data/sources/lines.h"

namespace tethys {

class Config;
class Tokenizer;

// One of the sources of data.mix, or the only one.
struct TrainingSource {
  std::string name;  // empty for the only one
  double share = 1;  // of the rows
  TokenStream tokens;
};

struct TrainingData {
  TokenStream training;                 // of the only source; empty if several are mixed
  std::vector<TrainingSource> sources;  // of training
  TokenStream validation;               // of all sources; empty for a raw token file
  RowOrder order = RowOrder::Shuffled;
  std::string fingerprint;  // of the text: what a resumed run compares
  int64_t files = 1;
  int64_t skipped_lines = 0;  // bad ones, of JSON lines and Parquet
};

// What belongs to the program that reads.
struct DataPlaces {
  std::string index_folder;         // where the indexes of text are kept
  std::string parquet_reader = {};  // path of the component that reads Parquet
};

// What data.text_field and data.skip_bad_lines say.
LineOptions line_options(const Config& config, const DataPlaces& places);

// As BatchMaker takes it.
std::vector<WeightedStream> training_streams(const TrainingData& data);
int64_t training_tokens(const TrainingData& data);
int64_t training_documents(const TrainingData& data);

// That of data.tokenizer. UserError if it has more tokens than the model.
Tokenizer load_tokenizer(const Config& config);

// What is known of the data without reading it all, in a line: files that match, tokens of a raw file, the tokenizer's
// size. UserError if the options do not go together, a file or the tokenizer cannot be read, or it has more tokens than
// the model. A line that says so where no data is named.
std::string look_at_training_data(const Config& config);

// Opens data.tokens, or else the index of data.text, one for each source of data.mix, which is built in the
// folder of indexes unless data.cache_dir names another. UserError if neither is set, or the tokenizer or the text
// cannot be read.
TrainingData open_training_data(const Config& config, const DataPlaces& places, const Progress& progress);

}  // namespace tethys
