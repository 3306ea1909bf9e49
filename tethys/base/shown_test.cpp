#include "base/shown.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace tethys {
namespace {

TEST(Shown, LeavesTextAsItIs) {
  for (const char* text : {"", "training.steps", "größer € \U0001F600", "a\\nb", "¢ …"}) EXPECT_EQ(shown(text), text);
}

TEST(Shown, EscapesWhatWouldBreakALineOrSteerATerminal) {
  EXPECT_EQ(shown("a\nb\tc\r\x1b[31m\x7f"), "a\\nb\\tc\\x0d\\x1b[31m\\x7f");
  EXPECT_EQ(shown(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(shown("\xc2\x9b"
                  "31m"),
            "\\xc2\\x9b31m");  // U+009B begins what ESC [ begins
  EXPECT_EQ(shown("\xff\xc0\x80\xe2\x82"), "\\xff\\xc0\\x80\\xe2\\x82");
  EXPECT_EQ(shown(shown("a\nb")), shown("a\nb"));
}

TEST(Shown, CutsTheMiddleOfWhatIsTooLong) {
  const std::string fits(1024, '9'), nines(768, '9');
  EXPECT_EQ(shown(fits), fits);
  EXPECT_EQ(shown(std::string(100'000, '9')), nines + "… (99,104 bytes more) …" + nines.substr(0, 128));
  std::string wide;
  for (int i = 0; i < 1000; ++i) wide += "€";  // three bytes each: 768 is 256 of them, 128 is 42 and two thirds
  EXPECT_EQ(shown(wide), wide.substr(0, 768) + "… (2,106 bytes more) …" + wide.substr(0, 126));
  EXPECT_LT(shown(std::string(100'000, '\x1b')).size(), 4000U);
}

TEST(Shown, IsEveryTextOfAUsersError) {
  const std::string text = "a\nb", big(100'000, 'x');
  try {
    user_error("{}: {:>6}, {} of {}\nand {}", text, std::string_view("\r"), text.c_str(), 7, big);
  } catch (const UserError& error) {
    EXPECT_EQ(error.what(), "a\\nb:   \\x0d, a\\nb of 7\nand " + shown(big));
  }
}

}  // namespace
}  // namespace tethys
