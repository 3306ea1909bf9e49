#include "data/loader/batch.h"

#include <gmock/gmock.h>

#include <numeric>
#include <set>

#include "base/error.h"

namespace tethys {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<int32_t> values(const HostTensor& tensor) {
  std::span<const int32_t> span = tensor.as<int32_t>();
  return {span.begin(), span.end()};
}

// Three documents, each ended by 1.
TokenStream three_documents() {
  return TokenStream::of({10, 11, 12, 1, 20, 1, 30, 31, 32, 33, 1}, {0, 4, 6}, "three documents");
}

// One document whose token i is i, so that a row says where it was cut.
TokenStream counting(int64_t size) {
  std::vector<uint32_t> tokens(static_cast<size_t>(size));
  std::iota(tokens.begin(), tokens.end(), 0U);
  return TokenStream::of(std::move(tokens), {0}, "counting");
}

TEST(Batch, CutsWindowsThatShareOneTokenWithTheNext) {
  BatchMaker maker(counting(13), {.seq_len = 4, .batch = 3, .order = RowOrder::InOrder});
  ASSERT_EQ(maker.rows(), 3);
  Batch batch = maker.make(0);
  EXPECT_EQ(batch.tokens.type(), (TensorType{DType::S32, {1, 3, 4}}));
  EXPECT_THAT(values(batch.tokens), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  EXPECT_THAT(values(batch.labels), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12));
}

TEST(Batch, KeepsDocumentsApart) {
  Batch batch = BatchMaker(three_documents(), {.seq_len = 3, .batch = 3, .order = RowOrder::InOrder}).make(0);
  EXPECT_THAT(values(batch.tokens), ElementsAre(10, 11, 12, /**/ 1, 20, 1, /**/ 30, 31, 32));
  // The ends are predicted; what begins the next document is not.
  EXPECT_THAT(values(batch.labels), ElementsAre(11, 12, 1, /**/ -100, 1, -100, /**/ 31, 32, 33));
  EXPECT_THAT(values(batch.positions), ElementsAre(0, 1, 2, /**/ 0, 0, 1, /**/ 0, 1, 2));
  EXPECT_THAT(values(batch.segment_ids), ElementsAre(0, 0, 0, /**/ 0, 1, 1, /**/ 0, 0, 0));
}

TEST(Batch, CountsSegmentsAndPositionsWithinTheRow) {
  Batch batch = BatchMaker(three_documents(), {.seq_len = 9, .order = RowOrder::InOrder}).make(0);
  EXPECT_THAT(values(batch.segment_ids), ElementsAre(0, 0, 0, 0, 1, 1, 2, 2, 2));
  EXPECT_THAT(values(batch.positions), ElementsAre(0, 1, 2, 3, 0, 1, 0, 1, 2));
  EXPECT_THAT(values(batch.labels), ElementsAre(11, 12, 1, -100, 1, -100, 31, 32, 33));
}

TEST(Batch, LabelsOnlyWhatIsLearnt) {
  // Of the eleven tokens the answers 11, 12 and 31, 32 are learnt.
  const TokenStream chats = TokenStream::of({10, 11, 12, 1, 20, 1, 30, 31, 32, 33, 1}, {0, 4, 6}, "chats", {0x186});
  Batch batch = BatchMaker(chats, {.seq_len = 9, .order = RowOrder::InOrder}).make(0);
  EXPECT_THAT(values(batch.tokens), ElementsAre(10, 11, 12, 1, 20, 1, 30, 31, 32));
  EXPECT_THAT(values(batch.labels), ElementsAre(11, 12, -100, -100, -100, -100, 31, 32, -100));
  EXPECT_THAT(values(BatchMaker(chats.first(8), {.seq_len = 7, .order = RowOrder::InOrder}).make(0).labels),
              ElementsAre(11, 12, -100, -100, -100, -100, 31));
}

// The first tokens of all rows of a batch.
std::vector<int32_t> row_begins(const Batch& batch) {
  std::vector<int32_t> begins;
  std::vector<int32_t> tokens = values(batch.tokens);
  for (size_t i = 0; i < tokens.size(); i += static_cast<size_t>(batch.tokens.type().dims[2]))
    begins.push_back(tokens[i]);
  return begins;
}

TEST(Batch, AnEpochReadsEachRowOnceInItsOwnOrder) {
  // 20 rows, 4 a step: an epoch is 5 steps.
  BatchMaker maker(counting(41), {.seq_len = 2, .accumulation = 2, .batch = 2, .seed = 9});
  ASSERT_EQ(maker.steps_per_epoch(), 5);
  std::vector<std::vector<int32_t>> epochs(2);
  for (int64_t step = 0; step < 10; ++step) {
    std::vector<int32_t> begins = row_begins(maker.make(step));
    auto& epoch = epochs[static_cast<size_t>(step / 5)];
    epoch.insert(epoch.end(), begins.begin(), begins.end());
  }
  std::vector<int32_t> in_order;
  for (int32_t row = 0; row < 20; ++row) in_order.push_back(2 * row);
  for (const std::vector<int32_t>& epoch : epochs) {
    EXPECT_THAT(epoch, testing::UnorderedElementsAreArray(in_order));
    EXPECT_NE(epoch, in_order);
  }
  EXPECT_NE(epochs[0], epochs[1]);
}

TEST(Batch, AnEpochMayEndWithinAStep) {
  // 5 rows, 3 a step: the second step takes the last 2 of one epoch and the first of the next.
  BatchMaker maker(counting(11), {.seq_len = 2, .batch = 3, .order = RowOrder::InOrder});
  EXPECT_THAT(row_begins(maker.make(1)), ElementsAre(6, 8, 0));
}

TEST(Batch, DependsOnTheSeed) {
  auto begins = [](uint64_t seed) {
    return row_begins(BatchMaker(counting(201), {.seq_len = 2, .batch = 50, .seed = seed}).make(0));
  };
  EXPECT_EQ(begins(1), begins(1));
  EXPECT_NE(begins(1), begins(2));
}

TEST(Batch, AStepReadsTheSameRowsHoweverItIsAccumulated) {
  auto begins = [](int64_t accumulation, int64_t batch) {
    return row_begins(BatchMaker(counting(201), {.seq_len = 2, .accumulation = accumulation, .batch = batch}).make(3));
  };
  EXPECT_EQ(begins(1, 8), begins(4, 2));
}

TEST(Batch, RanksHoldSlicesOfTheSameMicrobatches) {
  BatchSettings settings{.seq_len = 2, .accumulation = 3, .batch = 4};
  std::vector<int32_t> whole = row_begins(BatchMaker(counting(201), settings).make(5));
  std::vector<std::vector<int32_t>> parts;
  for (int64_t rank = 0; rank < 2; ++rank) {
    settings.first_row = 2 * rank;
    settings.local_rows = 2;
    Batch part = BatchMaker(counting(201), settings).make(5);
    EXPECT_EQ(part.tokens.type().dims, (Dims{3, 2, 2}));
    parts.push_back(row_begins(part));
  }
  for (size_t microbatch = 0; microbatch < 3; ++microbatch) {
    for (size_t row = 0; row < 4; ++row)
      EXPECT_EQ(whole[microbatch * 4 + row], parts[row / 2][microbatch * 2 + row % 2]);
  }
}

TEST(Batch, RowsReadOnceEndWithIgnoredLabels) {
  BatchMaker maker(counting(11), {.seq_len = 2, .batch = 3, .order = RowOrder::Once});
  ASSERT_EQ(maker.steps_per_epoch(), 2);
  Batch last = maker.make(1);
  EXPECT_THAT(values(last.tokens), ElementsAre(6, 7, 8, 9, 0, 0));
  EXPECT_THAT(values(last.labels), ElementsAre(7, 8, 9, 10, -100, -100));
  EXPECT_THAT(values(last.positions), ElementsAre(0, 1, 0, 1, 0, 1));
  EXPECT_THAT(values(maker.make(2).labels), Each(-100));
}

// Two documents whose tokens say which one they are of.
std::vector<WeightedStream> one_to_three(double weight = 1) {
  std::vector<uint32_t> low(11), high(41);
  std::iota(low.begin(), low.end(), 0U);
  std::iota(high.begin(), high.end(), 1000U);
  return {{TokenStream::of(low, {0}, "low"), weight}, {TokenStream::of(high, {0}, "high"), 3}};
}

TEST(Batch, AMixTakesRowsByWeightAndEachSourceAnewWhenItIsRead) {
  // 5 and 20 rows of 2 tokens: of 40 rows 10 are of the one, twice all it has, and 30 of the other.
  const BatchMaker maker(one_to_three(), {.seq_len = 2, .batch = 4, .seed = 5});
  EXPECT_EQ(maker.rows(), 25);
  EXPECT_EQ(maker.rows_of(1), 20);
  std::vector<std::vector<int32_t>> low(1), high(1);
  for (int64_t step = 0; step < 60; ++step) {
    for (const int32_t begin : row_begins(maker.make(step))) {
      auto& epochs = begin < 1000 ? low : high;
      if (epochs.back().size() == (begin < 1000 ? 5 : 20)) epochs.emplace_back();
      epochs.back().push_back(begin);
    }
  }
  EXPECT_NEAR(static_cast<double>(low.size()), 60.0 * 4 / 4 / 5, 1);
  EXPECT_NEAR(static_cast<double>(high.size()), 60.0 * 4 * 3 / 4 / 20, 1);
  std::set<std::vector<int32_t>> orders;
  for (size_t epoch = 0; epoch + 1 < high.size(); ++epoch) {
    orders.insert(high[epoch]);
    EXPECT_EQ(std::set<int32_t>(high[epoch].begin(), high[epoch].end()).size(), 20) << "epoch " << epoch;
  }
  EXPECT_EQ(orders.size(), high.size() - 1);
  for (size_t epoch = 0; epoch + 1 < low.size(); ++epoch) {
    EXPECT_EQ(std::set<int32_t>(low[epoch].begin(), low[epoch].end()).size(), 5) << "epoch " << epoch;
  }
}

TEST(Batch, AMixReadsTheSameRowsInAnyStepAndOnAnyRank) {
  const auto list = [](int64_t first, int64_t last, int64_t accumulation, int64_t ranks) {
    std::vector<int32_t> begins;
    for (int64_t step = first; step < last; ++step) {
      std::vector<std::vector<int32_t>> parts;
      for (int64_t rank = 0; rank < ranks; ++rank) {
        const int64_t batch = 8 / accumulation, local = batch / ranks;
        parts.push_back(row_begins(BatchMaker(one_to_three(), {.seq_len = 2,
                                                               .accumulation = accumulation,
                                                               .batch = batch,
                                                               .first_row = rank * local,
                                                               .local_rows = local})
                                       .make(step)));
      }
      for (size_t row = 0; row < static_cast<size_t>(8 / ranks); row += static_cast<size_t>(8 / accumulation / ranks)) {
        for (const auto& part : parts) {
          const auto begin = part.begin() + static_cast<std::ptrdiff_t>(row);
          begins.insert(begins.end(), begin, begin + 8 / accumulation / ranks);
        }
      }
    }
    return begins;
  };
  const std::vector<int32_t> alone = list(0, 12, 1, 1);
  EXPECT_EQ(list(0, 12, 4, 2), alone);
  std::vector<int32_t> resumed = list(0, 5, 2, 1);
  for (const int32_t begin : list(5, 12, 1, 4)) resumed.push_back(begin);
  EXPECT_EQ(resumed, alone);
}

TEST(Batch, AMixOfOneIsTheSourceAsItIs) {
  const BatchSettings settings{.seq_len = 2, .batch = 6, .seed = 8};
  EXPECT_EQ(row_begins(BatchMaker({{counting(41), 0.3}}, settings).make(4)),
            row_begins(BatchMaker(counting(41), settings).make(4)));
}

std::string error_of(const TokenStream& stream, const BatchSettings& settings) {
  try {
    BatchMaker maker(stream, settings);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Batch, ATextWithoutAFullRowIsRefusedWithTheCounts) {
  EXPECT_THAT(
      error_of(three_documents(), {.seq_len = 11}),
      HasSubstr("three documents is too short: 11 tokens in 3 documents, and a row of training.seq_len 11 needs 12"));
  EXPECT_EQ(error_of(three_documents(), {.seq_len = 10}), "no error");
  EXPECT_THAT(error_of(TokenStream(), {.seq_len = 1}), HasSubstr("0 tokens in 0 documents"));
}

TEST(Batch, RefusesEmptyShapes) { EXPECT_THAT(error_of(three_documents(), {.seq_len = 0}), HasSubstr("at least 1")); }

}  // namespace
}  // namespace tethys
