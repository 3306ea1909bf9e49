// Batches: what one step reads. A row is a window of seq_len + 1 tokens, and the windows follow each other with stride
// seq_len; ids are the first seq_len, labels the last. A label that begins another document, or is not to be learnt, is
// -100, and positions and segment ids restart at each document within the row, so that nothing of one document reaches
// another.
//
// Step s reads rows s·G … s·G+G-1 of an endless list, G = accumulation · batch: a pure function of the stream, the
// settings and s. Neither the number of ranks nor the steps before have a part in it; a rank takes its slice of it.
//
// Of several streams the list takes rows by their weights (mix.h), and each stream's rows in an order of its own:
// epochs of one begin and end whatever the others do.
//
//   BatchMaker maker(stream, {.seq_len = 512, .batch = 8, .seed = 7});
//   Batch batch = maker.make(100);   // that of step 100: s32[1,8,512] four times
#pragma once

#include <cstdint>
#include <vector>

#include "data/index/token_stream.h"
#include "data/loader/mix.h"
#include "values/host_tensor.h"

namespace tethys {

enum class RowOrder : uint8_t {
  Shuffled,  // each epoch in an order of its own, keyed by (seed, epoch)
  InOrder,   // as they stand, from the front again after the last
  Once,      // as they stand, once: rows past the last are of ignored labels only
};

struct BatchSettings {
  int64_t seq_len = 0;
  int64_t accumulation = 1;  // microbatches in a step
  int64_t batch = 1;         // rows in a microbatch, over all ranks
  // The rows of each microbatch that this rank holds; all of them if local_rows is -1.
  int64_t first_row = 0;
  int64_t local_rows = -1;
  RowOrder order = RowOrder::Shuffled;
  uint64_t seed = 0;
};

// A: microbatches; B: this rank's rows of each; S: seq_len. All s32[A,B,S].
struct Batch {
  int64_t step = 0;
  HostTensor tokens;
  HostTensor labels;
  HostTensor positions;
  HostTensor segment_ids;
};

struct WeightedStream {
  TokenStream tokens;
  double weight = 1;
};

class BatchMaker {
 public:
  // UserError if a stream has no full row; the message says how many tokens there are and how many a row needs.
  BatchMaker(TokenStream stream, const BatchSettings& settings);
  BatchMaker(std::vector<WeightedStream> streams, const BatchSettings& settings);

  Batch make(int64_t step) const;

  // Full rows in the streams: those of an epoch where there is one.
  int64_t rows() const;
  int64_t rows_of(size_t stream) const { return rows_[stream]; }
  // Steps until each row was read once, the last step perhaps in part.
  int64_t steps_per_epoch() const;
  const BatchSettings& settings() const { return settings_; }

 private:
  struct Row {
    size_t stream = 0;
    int64_t number = 0;  // -1 if the list has ended
  };
  Row row_at(int64_t place) const;

  std::vector<WeightedStream> streams_;
  BatchSettings settings_;
  std::vector<int64_t> rows_;  // of each stream
  Mix mix_;
};

}  // namespace tethys
