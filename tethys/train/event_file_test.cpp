#include "train/event_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/temporary_folder.h"

namespace tethys {
namespace {

std::string hex_of(std::string_view bytes) {
  std::string hex;
  for (char c : bytes) hex += fmt::format("{:02x}", static_cast<uint8_t>(c));
  return hex;
}

// RFC 3720, appendix B.4.
TEST(Crc32c, OfThePublishedExamples) {
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(crc32c(std::string(32, '\xFF')), 0x62A8AB43U);
  EXPECT_EQ(crc32c("123456789"), 0xE3069283U);
}

// The golden file is what TensorBoard's own writer makes of the same events.
TEST(EventFile, HoldsTheBytesThatTensorBoardWrites) {
  const TemporaryFolder folder;
  constexpr double kTime = 1750000000.25;
  EventFile events(folder.path(), {.first_step = 21, .wall_time = kTime});
  events.add_scalars(21, kTime + 1, {{"loss", 2.5}, {"grad_norm", 0.1}, {"data_seconds", 0.0}});
  events.add_text(21, kTime + 2, "sample", "\tOnce é\n\tupon");
  EXPECT_EQ(events.path().filename(), "events.out.tfevents.1750000000.tethys.21");
  std::string golden = read_file(Path(TETHYS_SOURCE_DIR) / "tests/golden/tensorboard/events.hex");
  std::erase(golden, '\n');
  EXPECT_EQ(hex_of(read_file(events.path())), golden);
}

}  // namespace
}  // namespace tethys
