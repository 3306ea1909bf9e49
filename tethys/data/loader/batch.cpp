#include "data/loader/batch.h"

#include <algorithm>

#include "base/error.h"
#include "data/loader/permutation.h"

namespace tethys {
namespace {

// Where one row goes in each tensor of the batch.
struct RowView {
  std::span<int32_t> tokens, labels, positions, segment_ids;
};

void fill_past_the_end(const RowView& row) {
  std::fill(row.labels.begin(), row.labels.end(), kIgnoredLabel);
  for (size_t i = 0; i < row.positions.size(); ++i) row.positions[i] = static_cast<int32_t>(i);
}

void fill_row(const TokenStream& stream, int64_t begin, const RowView& row) {
  size_t seq_len = row.tokens.size();
  std::vector<uint32_t> window(seq_len + 1);
  stream.copy(begin, window);

  std::span<const uint64_t> starts = stream.starts();
  size_t next_document = static_cast<size_t>(stream.document_of(begin)) + 1;
  int32_t position = 0, segment = 0;
  for (size_t i = 0; i < seq_len; ++i) {
    row.tokens[i] = static_cast<int32_t>(window[i]);
    row.positions[i] = position++;
    row.segment_ids[i] = segment;
    bool document_ends = next_document < starts.size() && starts[next_document] == static_cast<uint64_t>(begin) + i + 1;
    row.labels[i] = document_ends ? kIgnoredLabel : static_cast<int32_t>(window[i + 1]);
    if (document_ends) {
      ++next_document;
      ++segment;
      position = 0;
    }
  }
}

}  // namespace

BatchMaker::BatchMaker(TokenStream stream, const BatchShape& shape) : stream_(std::move(stream)), shape_(shape) {
  if (shape_.seq_len < 1 || shape_.accumulation < 1 || shape_.batch < 1) {
    user_error("a batch of {} microbatches of {} rows of {} tokens: each must be at least 1", shape_.accumulation,
               shape_.batch, shape_.seq_len);
  }
  if (shape_.local_rows < 0) shape_.local_rows = shape_.batch - shape_.first_row;
  require(shape_.first_row >= 0 && shape_.first_row + shape_.local_rows <= shape_.batch,
          "rows {} to {} of a batch of {}", shape_.first_row, shape_.first_row + shape_.local_rows, shape_.batch);
  rows_ = std::max<int64_t>(0, stream_.size() - 1) / shape_.seq_len;
  if (rows_ == 0) {
    user_error(
        "{} is too short: {} tokens in {} documents, and a row of training.seq_len {} needs {}; add text, or lower "
        "training.seq_len",
        stream_.name().empty() ? "the text" : stream_.name(), stream_.size(), stream_.documents(), shape_.seq_len,
        shape_.seq_len + 1);
  }
}

int64_t BatchMaker::steps_per_epoch() const {
  int64_t per_step = shape_.accumulation * shape_.batch;
  return (rows_ + per_step - 1) / per_step;
}

// The row at a place of the endless list; -1 if the list has ended.
int64_t BatchMaker::row_at(int64_t place) const {
  int64_t epoch = place / rows_, index = place % rows_;
  switch (shape_.order) {
    case RowOrder::Shuffled: return Permutation(rows_, shape_.seed, static_cast<uint64_t>(epoch))(index);
    case RowOrder::InOrder: return index;
    default: return epoch == 0 ? index : -1;
  }
}

Batch BatchMaker::make(int64_t step) const {
  require(step >= 0, "the batch of step {}", step);
  TensorType type{DType::S32, {shape_.accumulation, shape_.local_rows, shape_.seq_len}};
  Batch batch{step, HostTensor(type), HostTensor(type), HostTensor(type), HostTensor(type)};
  auto seq_len = static_cast<size_t>(shape_.seq_len);
  size_t offset = 0;
  for (int64_t microbatch = 0; microbatch < shape_.accumulation; ++microbatch) {
    for (int64_t local = 0; local < shape_.local_rows; ++local, offset += seq_len) {
      int64_t place = (step * shape_.accumulation + microbatch) * shape_.batch + shape_.first_row + local;
      int64_t row = row_at(place);
      auto part = [&](HostTensor& tensor) { return tensor.as<int32_t>().subspan(offset, seq_len); };
      RowView view{part(batch.tokens), part(batch.labels), part(batch.positions), part(batch.segment_ids)};
      if (row < 0) {
        fill_past_the_end(view);
      } else {
        fill_row(stream_, row * shape_.seq_len, view);
      }
    }
  }
  return batch;
}

}  // namespace tethys
