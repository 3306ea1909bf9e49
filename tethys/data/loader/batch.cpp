#include "data/loader/batch.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/number.h"
#include "data/loader/permutation.h"
#include "values/label.h"

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
    const bool counts = !document_ends && stream.is_learnt(begin + static_cast<int64_t>(i) + 1);
    row.labels[i] = counts ? static_cast<int32_t>(window[i + 1]) : kIgnoredLabel;
    if (document_ends) {
      ++next_document;
      ++segment;
      position = 0;
    }
  }
}

std::vector<double> weights_of(const std::vector<WeightedStream>& streams) {
  std::vector<double> weights;
  for (const WeightedStream& stream : streams) weights.push_back(stream.weight);
  return weights;
}

int64_t full_rows(const TokenStream& stream, int64_t seq_len) {
  const int64_t rows = std::max<int64_t>(0, stream.size() - 1) / seq_len;
  if (rows == 0) {
    user_error(
        "{} is too short: {} in {}, and a row of training.seq_len {} needs {}; add text, or lower training.seq_len",
        stream.name().empty() ? "the text" : stream.name(), counted(stream.size(), "token"),
        counted(stream.documents(), "document"), seq_len, seq_len + 1);
  }
  return rows;
}

}  // namespace

BatchMaker::BatchMaker(TokenStream stream, const BatchSettings& settings)
    : BatchMaker(std::vector<WeightedStream>{{std::move(stream)}}, settings) {}

BatchMaker::BatchMaker(std::vector<WeightedStream> streams, const BatchSettings& settings)
    : streams_(std::move(streams)), settings_(settings), mix_(weights_of(streams_), settings.seed) {
  if (settings_.seq_len < 1 || settings_.accumulation < 1 || settings_.batch < 1) {
    user_error("a batch of {} microbatches of {} rows of {} tokens: each must be at least 1", settings_.accumulation,
               settings_.batch, settings_.seq_len);
  }
  if (settings_.local_rows < 0) settings_.local_rows = settings_.batch - settings_.first_row;
  require(settings_.first_row >= 0 && settings_.first_row + settings_.local_rows <= settings_.batch,
          "rows {} to {} of a batch of {}", settings_.first_row, settings_.first_row + settings_.local_rows,
          settings_.batch);
  require(settings_.order != RowOrder::Once || streams_.size() == 1, "{} streams that are read once", streams_.size());
  for (const WeightedStream& stream : streams_) rows_.push_back(full_rows(stream.tokens, settings_.seq_len));
}

int64_t BatchMaker::rows() const { return std::accumulate(rows_.begin(), rows_.end(), int64_t{0}); }

int64_t BatchMaker::steps_per_epoch() const {
  int64_t per_step = settings_.accumulation * settings_.batch;
  return (rows() + per_step - 1) / per_step;
}

// The row at a place of the endless list.
BatchMaker::Row BatchMaker::row_at(int64_t place) const {
  const Mix::Drawn drawn = mix_(place);
  const int64_t rows = rows_[drawn.source], epoch = drawn.index / rows, index = drawn.index % rows;
  switch (settings_.order) {
    case RowOrder::Shuffled:
      return {drawn.source, Permutation(rows, settings_.seed, static_cast<uint64_t>(epoch))(index)};
    case RowOrder::InOrder: return {drawn.source, index};
    default: return {drawn.source, epoch == 0 ? index : -1};
  }
}

Batch BatchMaker::make(int64_t step) const {
  require(step >= 0, "the batch of step {}", step);
  TensorType type{DType::S32, {settings_.accumulation, settings_.local_rows, settings_.seq_len}};
  Batch batch{step, HostTensor(type), HostTensor(type), HostTensor(type), HostTensor(type)};
  auto seq_len = static_cast<size_t>(settings_.seq_len);
  size_t offset = 0;
  for (int64_t microbatch = 0; microbatch < settings_.accumulation; ++microbatch) {
    for (int64_t local = 0; local < settings_.local_rows; ++local, offset += seq_len) {
      int64_t place = (step * settings_.accumulation + microbatch) * settings_.batch + settings_.first_row + local;
      const Row row = row_at(place);
      auto part = [&](HostTensor& tensor) { return tensor.as<int32_t>().subspan(offset, seq_len); };
      RowView view{part(batch.tokens), part(batch.labels), part(batch.positions), part(batch.segment_ids)};
      if (row.number < 0) {
        fill_past_the_end(view);
      } else {
        fill_row(streams_[row.stream].tokens, row.number * settings_.seq_len, view);
      }
    }
  }
  return batch;
}

}  // namespace tethys
