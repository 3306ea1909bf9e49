#include "data/sources/npy.h"

#include <gmock/gmock.h>

#include "base/error.h"

namespace tethys {
namespace {

using testing::HasSubstr;
using namespace std::string_literals;

// numpy.save of numpy.array([1, 2, 3], dtype) by NumPy 2.4, spelt out: 128 bytes, then the tokens.
std::string saved(const std::string& descr, const std::string& tokens) {
  std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (3,), }";
  header.resize(117, ' ');
  return "\x93NUMPY\x01\x00\x76\x00"s + header + "\n" + tokens;
}

std::string with_header(const std::string& header, const std::string& tokens) {
  return "\x93NUMPY\x01\x00"s + static_cast<char>(header.size()) + "\0"s + header + tokens;
}

NpyTokens read(const std::string& file) { return read_npy_header(std::as_bytes(std::span(file)), "t.npy"); }

std::string error_of(const std::string& file) {
  try {
    read(file);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Npy, IsReadAsNumpyWritesIt) {
  const NpyTokens narrow = read(saved("<u2", std::string(6, 'x')));
  EXPECT_EQ(narrow.offset, 128u);
  EXPECT_EQ(narrow.count, 3);
  EXPECT_EQ(narrow.token_bytes, 2);
  EXPECT_FALSE(narrow.is_signed);
  EXPECT_EQ(read(saved("<u4", std::string(12, 'x'))).token_bytes, 4);
  EXPECT_TRUE(read(saved("<i4", std::string(12, 'x'))).is_signed);
}

TEST(Npy, MaySpellItsHeaderInOtherWays) {
  EXPECT_EQ(read(with_header("{'shape':(2,),'fortran_order':False,'descr':'<u2'}", "abcd")).count, 2);
  EXPECT_EQ(read(with_header("{'shape':(0,),'fortran_order':False,'descr':'<u2'}\n", "")).count, 0);
  const std::string header = "{'descr': '<u2', 'fortran_order': False, 'shape': (1,), }";
  for (char version : {'\2', '\3'}) {
    const std::string file = "\x93NUMPY"s + version + "\0"s + static_cast<char>(header.size()) + "\0\0\0"s + header;
    EXPECT_EQ(read(file + "ab").offset, 12 + header.size());
  }
}

TEST(Npy, OfAnotherKindOrDamagedIsRefused) {
  const std::string tokens(6, 'x'), whole = saved("<u2", tokens);
  const auto header = [&](const std::string& text) { return with_header(text, tokens); };
  const std::pair<std::string, std::string> cases[] = {
      {"", "is no .npy file"},
      {"\x93NUMP", "is no .npy file"},
      {"PK\x03\x04 an .npz is a zip", "is no .npy file"},
      {"\x93NUMPY", "ends within its .npy header"},
      {"\x93NUMPY\x01", "ends within its .npy header"},
      {"\x93NUMPY\x01\x00\x76"s, "ends within its .npy header"},
      {whole.substr(0, 100), "ends within its .npy header"},
      {"\x93NUMPY\x02\x00\xff\xff\xff\xff{}"s, "ends within its .npy header"},
      {"\x93NUMPY\x04\x00\x02\x00{}"s, "has version 4.0 of .npy"},
      {"\x93NUMPY\x01\x01\x02\x00{}"s, "has version 1.1 of .npy"},
      {"\x93NUMPY\x00\x00\x02\x00{}"s, "has version 0.0 of .npy"},
      {saved(">u2", tokens), "its numbers are '>u2'; expected '<u2', '<u4' or '<i4'"},
      {saved("<i8", std::string(24, 'x')), "its numbers are '<i8'"},
      {saved("|u1", "xxx"), "its numbers are '|u1'"},
      {saved("<f4", std::string(12, 'x')), "its numbers are '<f4'"},
      {saved("|O", tokens), "its numbers are '|O'"},
      {header("{'descr': [('id', '<u2')], 'fortran_order': False, 'shape': (3,), }"), "it holds records"},
      {header("{'descr': '<u2', 'fortran_order': True, 'shape': (3,), }"), "its fortran_order is True"},
      {header("{'descr': '<u2', 'fortran_order': 0, 'shape': (3,), }"), "neither True nor False"},
      {header("{'descr': '<u2', 'fortran_order': False, 'shape': (3, 1), }"), "its shape has 2 dimensions"},
      {header("{'descr': '<u2', 'fortran_order': False, 'shape': (), }"), "its shape has 0 dimensions"},
      {header("{'descr': '<u2', 'fortran_order': False, 'shape': 3, }"), "a '(' is missing"},
      {header("{'descr': '<u2', 'fortran_order': False, 'shape': (-3,), }"), "'shape' is no list of sizes"},
      {header("{'descr': '<u2', 'fortran_order': False, 'shape': (99999999999999999999,), }"), "no list of sizes"},
      {header("{'descr': '<u2', 'fortran_order': False, 'shape': (9223372036854775807,), }"), "its shape says"},
      {header("{'descr': '<u2', 'fortran_order': False, 'shape': (2,), }"), "its shape says 2 tokens, and 6 bytes"},
      {header("{'descr': '<u2', 'fortran_order': False, 'shape': (4,), }"), "its shape says 4 tokens, and 6 bytes"},
      {whole + "x", "its shape says 3 tokens, and 7 bytes follow"},
      {whole.substr(0, whole.size() - 1), "its shape says 3 tokens, and 5 bytes follow"},
      {header("{'fortran_order': False, 'shape': (3,), }"), "'descr' is missing"},
      {header("{'descr': '<u2', 'shape': (3,), }"), "'fortran_order' is missing"},
      {header("{'descr': '<u2', 'fortran_order': False}"), "'shape' is missing"},
      {header("{'descr': '<u2', 'descr': '<u2', 'fortran_order': False, 'shape': (3,)}"), "'descr' stands there twice"},
      {header("{'descr': '<u2', 'fortran_order': False, 'shape': (3,), 'x': 1}"), "'x' is no key of it"},
      {header("{'descr': '<u2', 'fortran_order': False, 'shape': (3,)"), "a ',' is missing"},
      {header("{'descr': '<u2"), "a text does not end"},
      {header("{'descr': '<u2', 'fortran_order': False, 'shape': (3,)} x"), "something follows its end"},
      {header(""), "a '{' is missing"},
      {header("[1, 2]"), "a '{' is missing"},
  };
  for (const auto& [file, message] : cases) {
    EXPECT_THAT(error_of(file), testing::AllOf(HasSubstr("t.npy"), HasSubstr(message))) << file;
  }
}

// None of a file's beginnings may pass for it.
TEST(Npy, ThatIsCutAnywhereIsRefused) {
  const std::string whole = saved("<u2", "abcdef");
  ASSERT_EQ(error_of(whole), "no error");
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_NE(error_of(whole.substr(0, length)), "no error") << length;
  }
}

}  // namespace
}  // namespace tethys
