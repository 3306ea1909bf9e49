#include "data/index/token_stream.h"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>

#include "base/error.h"
#include "base/file.h"
#include "base/temporary_folder.h"

namespace tethys {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <typename T>
std::string raw(const std::vector<T>& tokens) {
  return {reinterpret_cast<const char*>(tokens.data()), tokens.size() * sizeof(T)};
}

std::vector<uint32_t> all(const TokenStream& stream) {
  std::vector<uint32_t> tokens(static_cast<size_t>(stream.size()));
  stream.copy(0, tokens);
  return tokens;
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(TokenStream, KnowsTheDocumentOfAToken) {
  TokenStream stream = TokenStream::of({5, 6, 1, 7, 1, 8}, {0, 3, 5}, "three");
  EXPECT_EQ(stream.documents(), 3);
  std::vector<int64_t> documents;
  for (int64_t i = 0; i < stream.size(); ++i) documents.push_back(stream.document_of(i));
  EXPECT_THAT(documents, ElementsAre(0, 0, 0, 1, 1, 2));
}

TEST(RawTokens, AreTwoBytesWhenTheVocabularyFits) {
  TemporaryFolder folder;
  write_file(folder / "t.bin", raw<uint16_t>({7, 65535, 0}));
  EXPECT_THAT(all(open_raw_tokens(folder / "t.bin", 65536, std::nullopt)), ElementsAre(7, 65535, 0));
}

TEST(RawTokens, AreFourBytesWhenItDoesNot) {
  TemporaryFolder folder;
  write_file(folder / "t.bin", raw<uint32_t>({7, 100000, 0}));
  EXPECT_THAT(all(open_raw_tokens(folder / "t.bin", 128256, std::nullopt)), ElementsAre(7, 100000, 0));
}

TEST(RawTokens, AreOneDocumentUnlessAnEndIsNamed) {
  TemporaryFolder folder;
  write_file(folder / "t.bin", raw<uint16_t>({7, 1, 8, 9, 1, 1, 5}));
  EXPECT_THAT(open_raw_tokens(folder / "t.bin", 10, std::nullopt).starts(), ElementsAre(0));
  EXPECT_THAT(open_raw_tokens(folder / "t.bin", 10, 1).starts(), ElementsAre(0, 2, 5, 6));
}

TEST(RawTokens, OfAnOddSizeOrOutsideOfTheVocabularyAreRefused) {
  TemporaryFolder folder;
  write_file(folder / "odd.bin", "abc");
  EXPECT_THAT(error_of([&] { open_raw_tokens(folder / "odd.bin", 10, std::nullopt); }), HasSubstr("3 bytes"));
  write_file(folder / "t.bin", raw<uint16_t>({7, 8, 10}));
  EXPECT_THAT(error_of([&] { open_raw_tokens(folder / "t.bin", 10, std::nullopt); }),
              HasSubstr("token 2 is the id 10"));
  EXPECT_THAT(error_of([&] { open_raw_tokens(folder / "none.bin", 10, std::nullopt); }), HasSubstr("none.bin"));
}

TEST(RawTokens, AreOfTheTypeThatIsNamed) {
  TemporaryFolder folder;
  write_file(folder / "wide.bin", raw<uint32_t>({7, 9}));
  EXPECT_THAT(all(open_raw_tokens(folder / "wide.bin", 10, std::nullopt, TokenType::U32)), ElementsAre(7, 9));
  EXPECT_THAT(all(open_raw_tokens(folder / "wide.bin", 100'000, std::nullopt, TokenType::U16)),
              ElementsAre(7, 0, 9, 0));
  write_file(folder / "odd.bin", "abcdef");
  EXPECT_THAT(error_of([&] { open_raw_tokens(folder / "odd.bin", 10, std::nullopt, TokenType::U32); }),
              HasSubstr("6 bytes: expected a multiple of 4, the bytes of a token (data.token_type)"));
}

TEST(RawTokens, OfANpyAreAsItsHeaderSays) {
  TemporaryFolder folder;
  const auto write = [&](const std::string& descr, const std::string& tokens) {
    const std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (3,), }";
    write_file(folder / "t.npy",
               std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header + tokens);
  };
  const auto open = [&](TokenType type = TokenType::Auto) {
    return open_raw_tokens(folder / "t.npy", 10, std::nullopt, type);
  };
  write("<u4", raw<uint32_t>({7, 1, 9}));
  EXPECT_THAT(all(open()), ElementsAre(7, 1, 9));
  EXPECT_THAT(all(open(TokenType::U32)), ElementsAre(7, 1, 9));
  EXPECT_THAT(error_of([&] { open(TokenType::U16); }), HasSubstr("holds tokens of 4 bytes each"));
  write("<u2", raw<uint16_t>({7, 1, 9}));
  EXPECT_THAT(all(open()), ElementsAre(7, 1, 9));
  EXPECT_EQ(open().documents(), 1);
  write("<i4", raw<int32_t>({7, -1, 9}));
  EXPECT_THAT(error_of([&] { open(); }), HasSubstr("token 1 is the id -1; the vocabulary has 10 ids"));
}

TEST(UnigramEntropy, IsThatOfTheFrequencies) {
  EXPECT_DOUBLE_EQ(unigram_entropy(TokenStream::of({3, 3, 3}, {0}, "")), 0);
  EXPECT_DOUBLE_EQ(unigram_entropy(TokenStream::of({0, 1, 2, 3}, {0}, "")), std::log(4.0));
  EXPECT_NEAR(unigram_entropy(TokenStream::of({9, 9, 4, 9}, {0}, "")), 0.5623351446188083, 1e-15);  // ¼ ln 4 + ¾ ln 4/3
  EXPECT_EQ(unigram_entropy(TokenStream()), 0);
}

TEST(TokenStream, InterleavedHoldsAllDocumentsAndSpreadsThem) {
  const TokenStream letters = TokenStream::of({10, 1, 11, 12, 1, 13, 1, 14, 1}, {0, 2, 5, 7}, "letters");
  const TokenStream digits = TokenStream::of({20, 1, 21, 22, 23, 1}, {0, 2}, "digits");
  const TokenStream both = interleaved({letters, TokenStream(), digits}, "both");
  std::vector<uint32_t> tokens(static_cast<size_t>(both.size()));
  both.copy(0, tokens);
  // In the middles 1/8, 3/8, 5/8, 7/8 of the one and 1/4, 3/4 of the other.
  EXPECT_THAT(tokens, testing::ElementsAre(10, 1, 20, 1, 11, 12, 1, 13, 1, 21, 22, 23, 1, 14, 1));
  EXPECT_EQ(both.documents(), 6);
  EXPECT_EQ(both.document_begin(4), 9);
  EXPECT_EQ(both.document_size(4), 4);
  EXPECT_EQ(both.document_size(5), 2);
  EXPECT_EQ(both.name(), "both");
}

TEST(TokenStream, InterleavedKeepsWhatIsLearnt) {
  const TokenStream chats = TokenStream::of({10, 11, 12, 13}, {0, 2}, "chats", {0b1010});
  const TokenStream text = TokenStream::of({20, 21}, {0}, "text");
  const TokenStream both = interleaved({chats, text}, "both");
  std::vector<std::pair<uint32_t, bool>> found;
  for (int64_t i = 0; i < both.size(); ++i) found.emplace_back(both[i], both.is_learnt(i));
  EXPECT_THAT(found, testing::ElementsAre(std::pair(10U, false), std::pair(11U, true), std::pair(20U, true),
                                          std::pair(21U, true), std::pair(12U, false), std::pair(13U, true)));
  EXPECT_DOUBLE_EQ(unigram_entropy(chats), std::log(2));
}

TEST(TokenStream, ItsBeginningHasTheDocumentsThatBeginThere) {
  const TokenStream stream = TokenStream::of({10, 11, 1, 20, 1}, {0, 3}, "text");
  EXPECT_EQ(stream.first(4).size(), 4);
  EXPECT_EQ(stream.first(4).documents(), 2);
  EXPECT_EQ(stream.first(3).documents(), 1);
  EXPECT_EQ(stream.first(4)[3], 20);
  EXPECT_EQ(stream.first(0).documents(), 0);
}

}  // namespace
}  // namespace tethys
