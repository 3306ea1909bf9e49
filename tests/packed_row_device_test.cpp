// Documents packed into one row stay strangers: nothing of one reaches the loss of another, forward or backward.
#include <gmock/gmock.h>

#include <cstring>

#include "data/loader/batch.h"
#include "training_testing.h"
#include "values/label.h"

namespace tethys::training_testing {
namespace {

using LlamaRun = Run;  // gtest has a Run of its own in every test

// The smallest recipe's.
const Model kDebugModel{
    .dim = 256, .layers = 6, .heads = 16, .kv_heads = 16, .ffn = 768, .vocab = 2048, .original = 8192};
constexpr int64_t kLengths[] = {11, 8, 13};
constexpr int64_t kDocuments = std::size(kLengths);
constexpr int64_t kSeqLen = 11 + 8 + 13 - 1;

// Three documents in one row. No token comes twice in the row or in the two variants of a document, so the gradient of
// a token's row in the embedding table is that of its one place in the text.
class PackedRow {
 public:
  // The documents are told apart from their other variants by which of them are `changed`.
  explicit PackedRow(const std::vector<bool>& changed) {
    std::vector<uint32_t> tokens;
    std::vector<uint64_t> starts;
    for (size_t document = 0; document < kDocuments; ++document) {
      starts.push_back(tokens.size());
      for (int64_t i = 0; i < kLengths[document]; ++i) {
        tokens.push_back(static_cast<uint32_t>(tokens.size() * 17 + (changed[document] ? 1009 : 5)));
      }
    }
    batch_ = BatchMaker(TokenStream::of(tokens, starts, "three documents"), {.seq_len = kSeqLen}).make(0);
  }

  // Where the row has a label that belongs to `document`.
  std::vector<size_t> labelled(int64_t document) const {
    std::vector<size_t> places;
    for (size_t i = 0; i < kSeqLen; ++i) {
      const bool counts = batch_.labels.as<int32_t>()[i] != kIgnoredLabel;
      if (counts && batch_.segment_ids.as<int32_t>()[i] == document) places.push_back(i);
    }
    return places;
  }

  std::vector<int32_t> tokens_of(int64_t document) const {
    std::vector<int32_t> tokens;
    for (size_t i = 0; i < kSeqLen; ++i) {
      if (batch_.segment_ids.as<int32_t>()[i] == document) tokens.push_back(batch_.tokens.as<int32_t>()[i]);
    }
    return tokens;
  }

  // The row's labels at these places alone.
  HostTensor labels(const std::vector<size_t>& places) const {
    HostTensor labels = HostTensor::of<int32_t>({1, kSeqLen}, std::vector<int32_t>(kSeqLen, kIgnoredLabel));
    for (const size_t place : places) labels.as<int32_t>()[place] = batch_.labels.as<int32_t>()[place];
    return labels;
  }
  HostTensor tokens() const { return row(batch_.tokens); }
  HostTensor positions() const { return row(batch_.positions); }
  HostTensor segments() const { return row(batch_.segment_ids); }

 private:
  static HostTensor row(const HostTensor& tensor) {
    return HostTensor({DType::S32, {1, kSeqLen}}, {tensor.bytes().begin(), tensor.bytes().end()});
  }

  Batch batch_;
};

// The loss of a row, forward only.
class Forward {
 public:
  explicit Forward(bool scan)
      : model_(llama_config(config_of(kDebugModel))->build()), executor_(cpu_client(1), Mesh(), {}) {
    const std::vector<StoredParameter> store = make_store(*model_, llama_plan({}), {.mesh = {}, .stack_layers = scan});
    model_->set_layer_options({scan, false});
    std::vector<Value> parameters;
    for (const StoredParameter& stored : store) {
      parameters.push_back(graph_.input(stored.type, stored.name));
      parameters_.push_back(put(llama3_formula::weight(stored.name, stored.type, false)));
    }
    bind_store(graph_, store, parameters);
    const TensorType type{DType::S32, {1, kSeqLen}};
    const TokenRows rows{graph_.input(type, "tokens"), graph_.input(type, "positions"), graph_.input(type, "segments")};
    graph_.set_outputs({model_->loss_sum(rows, graph_.input(type, "labels")).value()});
  }

  std::vector<float> losses_of_tokens(const PackedRow& row, int64_t document) {
    std::vector<float> losses;
    for (const size_t place : row.labelled(document)) {
      std::vector<Array> arguments = parameters_;
      for (const HostTensor& part : {row.tokens(), row.positions(), row.segments(), row.labels({place})}) {
        arguments.push_back(put(part));
      }
      losses.push_back(to_host(executor_.call(graph_, arguments)[0]).as<float>()[0]);
    }
    return losses;
  }

 private:
  Array put(const HostTensor& tensor) { return to_device(executor_.devices(), tensor, {}); }

  std::unique_ptr<LanguageModel> model_;
  Executor executor_;
  Graph graph_;
  std::vector<Array> parameters_;
};

// Whether the layers run in a loop.
class PackedRows : public testing::TestWithParam<bool> {};

TEST_P(PackedRows, TheGradientOfOneDocumentsLossByAnothersEmbeddingsIsZero) {
  LlamaRun run(kDebugModel, {.name = "packed", .mesh = {}, .scan = GetParam(), .remat = {}, .dtype = DType::F32}, 1,
               kSeqLen);
  const PackedRow row({false, false, false});
  for (int64_t learnt = 0; learnt < kDocuments; ++learnt) {
    const std::vector<size_t> places = row.labelled(learnt);
    // What begins the next document is not learnt, and the row ends one token early.
    ASSERT_EQ(places.size(), static_cast<size_t>(kLengths[learnt] - 1));
    // At a learning rate of 0 nothing changes from step to step.
    run.step(0, 0, row.tokens(), row.labels(places), row.positions(), row.segments());
    const std::vector<double> gradient = run.gradients().at("tok_embeddings.weight");
    for (int64_t other = 0; other < kDocuments; ++other) {
      std::vector<int32_t> tokens = row.tokens_of(other);
      // Its own last token predicts nothing of it.
      if (other == learnt && learnt + 1 < kDocuments) tokens.pop_back();
      for (const int32_t token : tokens) {
        const auto begin = gradient.begin() + token * kDebugModel.dim;
        const bool zero = std::all_of(begin, begin + kDebugModel.dim, [](double g) { return g == 0; });
        EXPECT_EQ(zero, other != learnt) << "document " << other << ", token " << token << ", loss of " << learnt;
      }
    }
  }
}

TEST_P(PackedRows, TheLossesOfADocumentsTokensKeepTheirBitsWhenAnotherChanges) {
  Forward forward(GetParam());
  const PackedRow row({false, false, false});
  for (int64_t document = 0; document < kDocuments; ++document) {
    const std::vector<float> losses = forward.losses_of_tokens(row, document);
    for (int64_t other = 0; other < kDocuments; ++other) {
      std::vector<bool> changed(kDocuments, false);
      changed[static_cast<size_t>(other)] = true;
      const std::vector<float> after = forward.losses_of_tokens(PackedRow(changed), document);
      ASSERT_EQ(after.size(), losses.size());
      const bool same = std::memcmp(after.data(), losses.data(), losses.size() * sizeof(float)) == 0;
      EXPECT_EQ(same, other != document) << "document " << document << " where " << other << " changed";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Layers, PackedRows, testing::Bool(),
                         [](const auto& test) { return test.param ? "InALoop" : "OneByOne"; });

}  // namespace
}  // namespace tethys::training_testing
