#include "train/console.h"

#include <gtest/gtest.h>

#include "train/metrics.h"

namespace tethys {
namespace {

TEST(Console, AStepPrintsAsTorchtitanPrintsIt) {
  StepMetrics m;
  m.step = 1;
  m.loss = 8.0491;
  m.grad_norm = 1.347;
  m.memory_gib = 0.25;
  m.tps = 1234.4;
  m.tflops = 0.0481;
  m.mfu = 0.6123;
  EXPECT_EQ(console_line(m),
            "step:  1  loss:  8.04910  grad_norm:  1.3470  memory:  0.25GiB  tps: 1,234  tflops: 0.05  mfu: 61.23%");
}

TEST(Console, ASampleIsOneLine) {
  EXPECT_EQ(console_line(SampleMetrics{100, "the cat", "sees\nno \x1b[2J"}),
            "sample step: 100  \"the cat\" \"sees\\nno \\u001b[2J\"");
}

TEST(Console, TimesPrintAsOnAClock) {
  EXPECT_EQ(clock_time(65), "1:05");
  EXPECT_EQ(clock_time(7384.4), "2:03:04");
  EXPECT_EQ(clock_time(59.7), "1:00");
}

TEST(Console, TheBarFillsTheWidthAndSaysWhatIsLeft) {
  EXPECT_EQ(progress_bar(50, 100, 0.6, 38), "[=======>         ]  50/100  0:30 left");
  EXPECT_EQ(progress_bar(0, 100, 0.6, 34).size(), 34u);
  EXPECT_EQ(progress_bar(100, 100, 0.6, 34).find('>'), std::string::npos);
  EXPECT_EQ(progress_bar(50, 100, 0.6, 20), "");
}

}  // namespace
}  // namespace tethys
