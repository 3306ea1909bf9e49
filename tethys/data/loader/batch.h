// Batches: what one step reads. A row is a window of seq_len + 1 tokens, and the windows follow each other with stride
// seq_len; ids are the first seq_len, labels the last. A label that begins another document is -100, and positions and
// segment ids restart at each document within the row, so that nothing of one document reaches another.
//
// Step s reads rows s·G … s·G+G-1 of an endless list, G = accumulation · batch: a pure function of the stream, the
// settings and s. Neither the number of ranks nor the steps before have a part in it; a rank takes its slice of it.
//
//   BatchMaker maker(stream, {.seq_len = 512, .batch = 8, .seed = 7});
//   Batch batch = maker.make(100);   // that of step 100: s32[1,8,512] four times
#pragma once

#include <cstdint>

#include "data/index/token_stream.h"
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

class BatchMaker {
 public:
  // UserError if the stream has no full row; the message says how many tokens there are and how many a row needs.
  BatchMaker(TokenStream stream, const BatchSettings& settings);

  Batch make(int64_t step) const;

  // Full rows in the stream: those of an epoch.
  int64_t rows() const { return rows_; }
  // Steps until each row was read once, the last step perhaps in part.
  int64_t steps_per_epoch() const;
  const BatchSettings& settings() const { return settings_; }

 private:
  int64_t row_at(int64_t place) const;

  TokenStream stream_;
  BatchSettings settings_;
  int64_t rows_ = 0;
};

}  // namespace tethys
