// tethys data: what a run would read.
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>

#include "base/error.h"
#include "base/number.h"
#include "config/recipe.h"
#include "data/tokenizer/tokenizer.h"
#include "tools/commands.h"
#include "tools/locations.h"
#include "tools/screen.h"
#include "train/corpus.h"
#include "train/degrees.h"
#include "train/hugging_face_config.h"

namespace tethys {
namespace {

constexpr int64_t kMostShown = 256;  // tokens of a document

std::vector<Option> options() {
  return with_training_options({int_option("show", 0, at_least(0), "print the beginnings of so many documents")});
}

std::string tokens_of(int64_t tokens, int64_t documents) {
  return fmt::format("{:>15}  tokens in {}\n", with_commas(tokens), counted(documents, "document"));
}

int64_t learnt_tokens(const TokenStream& stream) {
  int64_t count = 0;
  for (int64_t i = 0; i < stream.size(); ++i) count += stream.is_learnt(i) ? 1 : 0;
  return count;
}

std::string source_of(const TrainingData& data) {
  std::string text = fmt::format("files      {:>15}\n", with_commas(data.files));
  text += "training   " + tokens_of(training_tokens(data), training_documents(data));
  for (const TrainingSource& source : data.sources) {
    if (!source.tokens.has_mask()) continue;
    text += fmt::format("learnt     {:>15}  tokens, the answers{}\n", with_commas(learnt_tokens(source.tokens)),
                        source.name.empty() ? "" : " of " + source.name);
  }
  text += "held out   " + tokens_of(data.validation.size(), data.validation.documents());
  if (data.skipped_lines > 0) text += fmt::format("skipped    {:>15}  bad lines\n", with_commas(data.skipped_lines));
  return text;
}

// How often the run reads it, or each of its sources.
std::string epochs_of(const Config& config, const TrainingData& data) {
  const int64_t count = config.get_int("device.count"), seq_len = config.get_int("training.seq_len");
  const int64_t steps = config.get_int("training.steps");
  const StepRows rows = step_rows_of(config, degrees_of(config, count == -1 ? std::nullopt : std::optional(count)));
  const BatchMaker batches(training_streams(data),
                           {.seq_len = seq_len, .accumulation = rows.accumulation, .batch = rows.rows});
  const int64_t per_step = rows.accumulation * rows.rows;
  const auto in_run = static_cast<double>(steps * per_step);
  if (data.sources.size() == 1) {
    return fmt::format("an epoch   {:>15}  tokens in {} of {}: {} of {}\n", with_commas(batches.rows() * seq_len),
                       counted(batches.rows(), "row"), seq_len, counted(batches.steps_per_epoch(), "step"),
                       counted(per_step, "row")) +
           fmt::format("the run    {:>15.2f}  epochs in {}\n", in_run / static_cast<double>(batches.rows()),
                       counted(steps, "step"));
  }
  std::string text;
  for (size_t i = 0; i < data.sources.size(); ++i) {
    const TrainingSource& source = data.sources[i];
    text += fmt::format("{:<10} {:>14.2f}%  of the rows, from {} tokens in {}: {:.2f} epochs in {}\n", source.name,
                        100 * source.share, with_commas(source.tokens.size()),
                        counted(source.tokens.documents(), "document"),
                        source.share * in_run / static_cast<double>(batches.rows_of(i)), counted(steps, "step"));
  }
  return text;
}

// The text of a chat, with what is learnt in brackets of its own.
std::string bracketed(const Tokenizer& tokenizer, const TokenStream& stream, int64_t begin,
                      const std::vector<uint32_t>& tokens) {
  std::string text;
  bool inside = false;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (stream.is_learnt(begin + static_cast<int64_t>(i)) != inside) text += (inside = !inside) ? "⟦" : "⟧";
    text += tokenizer.token(static_cast<int32_t>(tokens[i]));
  }
  return inside ? text + "⟧" : text;
}

// As text, or as ids where there is no tokenizer.
void show(std::ostream& out, const Config& config, const std::optional<Tokenizer>& tokenizer,
          const TrainingSource& source) {
  const TokenStream& stream = source.tokens;
  for (int64_t i = 0; i < std::min(config.get_int("show"), stream.documents()); ++i) {
    const int64_t size = stream.document_size(i);
    std::vector<uint32_t> tokens(static_cast<size_t>(std::min(size, kMostShown)));
    stream.copy(stream.document_begin(i), tokens);
    fmt::print(out, "\n{}{}document {}, {}{}\n", source.name, source.name.empty() ? "" : ": ", i,
               counted(size, "token"), size <= kMostShown ? "" : ", its beginning");
    if (tokenizer && stream.has_mask()) {
      fmt::print(out, "{}\n", bracketed(*tokenizer, stream, stream.document_begin(i), tokens));
    } else if (tokenizer) {
      fmt::print(out, "{}\n", tokenizer->decode(std::vector<int32_t>(tokens.begin(), tokens.end())));
    } else {
      fmt::print(out, "{}\n", fmt::join(tokens, " "));
    }
  }
}

int run(Invocation& invocation) {
  Config& config = invocation.config;
  const Surroundings& surroundings = invocation.surroundings;
  load_run_recipe(config, single_argument(invocation, kDataCommand, "the recipe"),
                  recipes_folder(surroundings.executable));
  check_config(config);
  TrainingData data;
  {
    Screen screen(surroundings.out, surroundings.width);
    data = open_training_data(
        config, data_places(surroundings),
        [&](std::string_view stage, int64_t done, int64_t total) { screen.stage(stage, done, total); });
  }
  fmt::print(surroundings.out, "{}", source_of(data));
  std::exception_ptr too_short;  // for a row, which is no reason not to show it
  try {
    fmt::print(surroundings.out, "{}", epochs_of(config, data));
  } catch (const UserError&) {
    too_short = std::current_exception();
  }
  std::optional<Tokenizer> tokenizer;
  if (!config.get_string("data.tokenizer").empty()) tokenizer.emplace(load_tokenizer(config));
  for (const TrainingSource& source : data.sources) show(surroundings.out, config, tokenizer, source);
  if (too_short) std::rethrow_exception(too_short);
  return 0;
}

}  // namespace

const Command kDataCommand{
    "data",
    "RECIPE [--section.option VALUE]…",
    "print what a run would read: documents, tokens, epochs; needs no device",
    "  tethys data llama3_debugmodel --data.text 'books/*.txt' --data.tokenizer tokenizer.json\n"
    "  tethys data llama3_debugmodel --data.text corpus.jsonl.zst --data.text_field content --show 3 …\n"
    "  tethys data llama3_debugmodel --data.text 'corpus/*.parquet' --data.text_field content …\n"
    "  tethys data llama3_debugmodel --data.text chats.jsonl --data.chats --show 3 …    what is learnt in ⟦ ⟧\n"
    "  tethys data llama3_debugmodel --data.text 'code:src/**/*.py,books:*.txt' --data.mix code=0.7,books=0.3 …\n"
    "  tethys data llama3_debugmodel --data.tokens tokens.npy\n\n"
    "The index of the text is built, if it is not there yet, and kept for the run.\n",
    options,
    run,
};

}  // namespace tethys
