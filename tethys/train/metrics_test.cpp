#include "train/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/temporary_folder.h"

namespace tethys {
namespace {

StepMetrics step(int64_t number) {
  return {number, 8.0491, 1.347, 4e-4, 2048 * number, 1234.5, 0.048, 0.61, 0.25, 1.66, 0.001};
}

TEST(Metrics, AStepHasTheKeysThatScriptsRelyOnInTheirOrder) {
  EXPECT_EQ(to_json(step(1)),
            R"({"step":1,"loss":8.0491,"grad_norm":1.347,"lr":0.0004,"tokens":2048,"tps":1234.5,"tflops":0.048,)"
            R"("mfu":0.61,"memory_gib":0.25,"step_seconds":1.66,"data_seconds":0.001})");
}

TEST(Metrics, WhatWasAppendedIsReadBack) {
  TemporaryFolder folder;
  const ValidationMetrics validation{2, 5.25, 100000, 6.5};
  LineFile file(folder / "metrics.jsonl");
  file.append(to_json(step(1)));
  file.append(to_json(step(2)));
  file.append(to_json(validation));
  const RunMetrics read = read_metrics(folder / "metrics.jsonl");
  EXPECT_THAT(read.steps, testing::ElementsAre(step(1), step(2)));
  EXPECT_THAT(read.validations, testing::ElementsAre(validation));
}

TEST(Metrics, ASampleIsALineOfItsOwnWhateverBytesItHas) {
  TemporaryFolder folder;
  const SampleMetrics sample{3, "the cat", "sees\n\"no\" \xc3\xa9"};
  EXPECT_EQ(to_json(sample), "{\"step\":3,\"prompt\":\"the cat\",\"sample\":\"sees\\n\\\"no\\\" \xc3\xa9\"}");
  LineFile file(folder / "metrics.jsonl");
  file.append(to_json(step(3)));
  file.append(to_json(sample));
  file.append(to_json(SampleMetrics{4, "", "a\xff"}));
  const RunMetrics read = read_metrics(folder / "metrics.jsonl");
  EXPECT_EQ(read.steps.size(), 1U);
  EXPECT_THAT(read.samples, testing::ElementsAre(sample, SampleMetrics{4, "", "a\xef\xbf\xbd"}));
}

TEST(Metrics, CuttingBackDropsLaterStepsAndAnUnfinishedLine) {
  TemporaryFolder folder;
  const Path path = folder / "metrics.jsonl";
  const std::string kept =
      to_json(step(1)) + "\n" + to_json(step(2)) + "\n" + to_json(ValidationMetrics{2, 5, 7, 6}) + "\n";
  write_file(path, kept + to_json(step(3)) + "\n" + to_json(step(4)).substr(0, 30));
  cut_back_metrics(path, 2);
  EXPECT_EQ(read_file(path), kept);
  LineFile(path).append(to_json(step(3)));
  EXPECT_EQ(read_file(path), kept + to_json(step(3)) + "\n");
  cut_back_metrics(path, 0);
  EXPECT_EQ(read_file(path), "");
  cut_back_metrics(folder / "none.jsonl", 0);
  EXPECT_FALSE(std::filesystem::exists(folder / "none.jsonl"));
}

TEST(Metrics, ALineThatIsNoneIsNamedByItsNumber) {
  TemporaryFolder folder;
  write_file(folder / "m.jsonl", to_json(step(1)) + "\nhello\n");
  EXPECT_THROW(
      try { read_metrics(folder / "m.jsonl"); } catch (const UserError& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("m.jsonl:2: "));
        throw;
      },
      UserError);
}

}  // namespace
}  // namespace tethys
