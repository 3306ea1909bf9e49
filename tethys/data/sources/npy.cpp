#include "data/sources/npy.h"

#include <fmt/format.h>

#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/number.h"

namespace tethys {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view kMagic = "\x93NUMPY"sv;

// The header is a literal of Python's: {'descr': '<u2', 'fortran_order': False, 'shape': (3,), }
class Header {
 public:
  Header(std::string_view text, const std::string& name) : rest_(text), name_(name) {}

  std::string descr;
  bool fortran_order = false;
  std::vector<int64_t> shape;

  void read() {
    bool has_descr = false, has_order = false, has_shape = false;
    const auto first = [&](bool& has, const char* key) {
      if (has) wrong(fmt::format("'{}' stands there twice", key));
      has = true;
    };
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr") {
        first(has_descr, "descr");
        descr = read_descr();
      } else if (key == "fortran_order") {
        first(has_order, "fortran_order");
        fortran_order = read_bool();
      } else if (key == "shape") {
        first(has_shape, "shape");
        read_shape();
      } else {
        wrong(fmt::format("'{}' is no key of it", key));
      }
      if (accept('}')) break;
      expect(',');
    }
    skip_spaces();
    if (!rest_.empty()) wrong("something follows its end");
    if (!has_descr) wrong("'descr' is missing");
    if (!has_order) wrong("'fortran_order' is missing");
    if (!has_shape) wrong("'shape' is missing");
  }

 private:
  [[noreturn]] void wrong(const std::string& what) const {
    user_error("{}: its .npy header is damaged: {}; expected 'descr', 'fortran_order' and 'shape'", name_, what);
  }
  void skip_spaces() {
    const size_t count = rest_.find_first_not_of(" \n");
    rest_.remove_prefix(count == std::string_view::npos ? rest_.size() : count);
  }
  bool accept(char c) {
    skip_spaces();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c)) wrong(fmt::format("a '{}' is missing", c));
  }
  std::string quoted() {
    expect('\'');
    const size_t end = rest_.find('\'');
    if (end == std::string_view::npos) wrong("a text does not end");
    const std::string text(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return text;
  }
  // Of an array of records it is a list.
  std::string read_descr() {
    skip_spaces();
    if (rest_.starts_with('[')) user_error("{}: it holds records; expected '<u2', '<u4' or '<i4'", name_);
    return quoted();
  }
  bool read_bool() {
    skip_spaces();
    for (const auto& [word, value] : {std::pair("True"sv, true), std::pair("False"sv, false)}) {
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return value;
    }
    wrong("'fortran_order' is neither True nor False");
  }
  void read_shape() {
    expect('(');
    while (!accept(')')) {
      const size_t digits = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
      const std::optional<int64_t> extent = parse_number<int64_t>(rest_.substr(0, digits));
      if (!extent) wrong("'shape' is no list of sizes");
      shape.push_back(*extent);
      rest_.remove_prefix(digits);
      if (accept(')')) break;
      expect(',');
    }
  }

  std::string_view rest_;
  const std::string& name_;
};

}  // namespace

NpyTokens read_npy_header(std::span<const std::byte> file, const std::string& name) {
  const std::string_view bytes(reinterpret_cast<const char*>(file.data()), file.size());
  if (!bytes.starts_with(kMagic)) user_error("{} is no .npy file: it does not begin with \\x93NUMPY", name);
  const auto ends_early = [&] { user_error("{} ends within its .npy header; the file is incomplete", name); };
  const auto byte = [&](size_t at) {
    if (at >= bytes.size()) ends_early();
    return static_cast<size_t>(static_cast<unsigned char>(bytes[at]));
  };
  const size_t major = byte(6), minor = byte(7);
  if (major < 1 || major > 3 || minor != 0) {
    user_error("{} has version {}.{} of .npy; expected 1.0, 2.0 or 3.0", name, major, minor);
  }
  const size_t length_bytes = major == 1 ? 2 : 4, begin = 8 + length_bytes;
  size_t length = 0;
  for (size_t i = 0; i < length_bytes; ++i) length |= byte(8 + i) << (8 * i);
  if (length > bytes.size() - begin) ends_early();

  Header header(bytes.substr(begin, length), name);
  header.read();
  NpyTokens tokens{.offset = begin + length};
  if (header.descr == "<u2") {
    tokens.token_bytes = 2;
  } else if (header.descr != "<u4" && header.descr != "<i4") {
    user_error("{}: its numbers are '{}'; expected '<u2', '<u4' or '<i4'", name, header.descr);
  }
  tokens.is_signed = header.descr == "<i4";
  if (header.fortran_order) user_error("{}: its fortran_order is True; expected False", name);
  if (header.shape.size() != 1) {
    user_error("{}: its shape has {} dimensions; expected one, a row of tokens", name, header.shape.size());
  }
  tokens.count = header.shape[0];
  const size_t held = bytes.size() - tokens.offset, width = static_cast<size_t>(tokens.token_bytes);
  if (held % width != 0 || held / width != static_cast<size_t>(tokens.count)) {
    user_error("{}: its shape says {}, and {} bytes follow the header; expected {} bytes a token", name,
               counted(tokens.count, "token"), held, width);
  }
  return tokens;
}

}  // namespace tethys
