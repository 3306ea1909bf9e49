#include "train/metrics_writer.h"

#include <gtest/gtest.h>

#include "base/temporary_folder.h"

namespace tethys {
namespace {

TEST(Scalars, AreTheNumbersOfALineButTheStep) {
  using Scalars = std::vector<std::pair<std::string, double>>;
  EXPECT_EQ(scalars_of(R"({"step":3,"loss":2.5,"note":"x","tokens":7})"), (Scalars{{"loss", 2.5}, {"tokens", 7}}));
}

// What TensorBoard shows as a text of its own begins each line with a tab; bytes that are no text are U+FFFD.
TEST(MetricsWriter, ASampleIsATextOfTheEventFile) {
  const TemporaryFolder folder;
  MetricsWriter(folder / "metrics.jsonl", {.tensorboard = true, .first_step = 3})
      .add(SampleMetrics{.step = 3, .prompt = "a", .text = "b\nc\xff"});
  std::vector<Path> event_files;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    if (entry.path().filename().string().starts_with("events.out.tfevents.")) event_files.push_back(entry.path());
  }
  ASSERT_EQ(event_files.size(), 1U);
  const std::string events = read_file(event_files[0]);
  EXPECT_NE(events.find("\tab\n\tc\uFFFD"), std::string::npos);
  EXPECT_NE(events.find("sample"), std::string::npos);
  EXPECT_EQ(read_metrics(folder / "metrics.jsonl").samples.size(), 1U);
}

TEST(MetricsWriter, WritesLinesAndOnlyIfAskedAnEventFile) {
  const TemporaryFolder folder;
  const StepMetrics step{.step = 2, .loss = 1.5};
  const auto files = [&] {
    return std::distance(std::filesystem::directory_iterator(folder.path()), std::filesystem::directory_iterator());
  };
  MetricsWriter(folder / "metrics.jsonl", {}).add(step);
  EXPECT_EQ(files(), 1);
  MetricsWriter(folder / "metrics.jsonl", {.tensorboard = true, .first_step = 3}).add(ValidationMetrics{.step = 3});
  EXPECT_EQ(files(), 2);
  const RunMetrics read = read_metrics(folder / "metrics.jsonl");
  EXPECT_EQ(read.steps, std::vector{step});
  EXPECT_EQ(read.validations.size(), 1U);
}

}  // namespace
}  // namespace tethys
