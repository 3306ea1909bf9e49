#include "data/tokenizer/nfc.h"

#include <gtest/gtest.h>

#include "data/tokenizer/unicode.h"

namespace tethys {
namespace {

std::string normal(std::string_view text) {
  std::string storage;
  return std::string(nfc(text, storage));
}

// Examples of Unicode Standard Annex 15, figures 3 to 6.
TEST(Nfc, ComposesAsTheAnnexShows) {
  EXPECT_EQ(normal("\u212B"), "\u00C5");  // angstrom sign
  EXPECT_EQ(normal("\u2126"), "\u03A9");  // ohm sign
  EXPECT_EQ(normal("A\u030A"), "\u00C5");
  EXPECT_EQ(normal("o\u0302"), "\u00F4");
  EXPECT_EQ(normal("\u1E69"), "\u1E69");
  EXPECT_EQ(normal("\u1E0B\u0323"), "\u1E0D\u0307");  // d with dot above, dot below
  EXPECT_EQ(normal("q\u0307\u0323"), "q\u0323\u0307");
  EXPECT_EQ(normal("\uFB01"), "\uFB01");  // a ligature is only compatible
  EXPECT_EQ(normal("\u1E9B\u0323"), "\u1E9B\u0323");
}

TEST(Nfc, ComposesHangulByArithmetic) {
  EXPECT_EQ(normal("\u1100\u1161\u11A8"), "\uAC01");
  EXPECT_EQ(normal("\uAC00\u11A8"), "\uAC01");
  EXPECT_EQ(normal("\uAC01\u11A8"), "\uAC01\u11A8");
  EXPECT_EQ(normal("\u1112\u1175\u11C2"), "\uD7A3");
}

TEST(Nfc, DoesNotComposeWhatIsExcluded) {
  EXPECT_EQ(normal("\u0958"), "\u0915\u093C");
  EXPECT_EQ(normal("\u2ADC"), "\u2ADD\u0338");
  EXPECT_EQ(normal("\u0344"), "\u0308\u0301");
}

TEST(Nfc, AMarkThatIsBlockedStays) {
  EXPECT_EQ(normal("a\u0305\u0301"), "a\u0305\u0301");  // both above: the first blocks the second
  EXPECT_EQ(normal("a\u0316\u0301"), "\u00E1\u0316");
  EXPECT_EQ(normal("\u09C7x\u09BE"), "\u09C7x\u09BE");
  EXPECT_EQ(normal("\u09C7\u09BE"), "\u09CB");  // a starter that composes
}

TEST(Nfc, GivesTextThatIsNormalBackItself) {
  std::string storage, text = "plain é 海";
  EXPECT_EQ(nfc(text, storage).data(), text.data());
}

TEST(Nfc, LeavesBytesThatAreNoUtf8) {
  EXPECT_EQ(normal("\xCC\xCC\x81"), "\xCC\xCC\x81");
  EXPECT_EQ(normal("e\xFF\xCC\x81"), "e\xFF\xCC\x81");
}

TEST(Utf8, ReadsWhatItWritesAndTakesNothingElse) {
  for (char32_t code :
       {U'a', U'\x7F', U'\x80', U'\u07FF', U'\u0800', U'\uD7FF', U'\uE000', U'\uFFFF', U'\U00010000', U'\U0010FFFF'}) {
    std::string text;
    append_utf8(text, code);
    EXPECT_EQ(character_at(text, 0).code, code);
    EXPECT_EQ(character_at(text, 0).size, text.size());
    EXPECT_EQ(character_before("x" + text, 1 + text.size()), 1U);
  }
  // Overlong, a surrogate, beyond the last, cut off, a lone continuation.
  for (std::string_view bad : {"\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE6\xB5", "\x80"}) {
    EXPECT_EQ(character_at(bad, 0).code, kStrayByte + static_cast<uint8_t>(bad[0]));
    EXPECT_EQ(character_at(bad, 0).size, 1U);
  }
}

}  // namespace
}  // namespace tethys
