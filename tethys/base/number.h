// Numbers as text: read whole or not at all, and written for people.
//
//   parse_number<int64_t>("12");     // 12
//   parse_number<int64_t>("12 B");   // nothing
//   with_commas(8030261248);         // "8,030,261,248"
//   counted(1, "file");              // "1 file"
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tethys {

// Nothing if the text is not all one number, or the number does not fit. A leading plus is allowed.
template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(text.starts_with("+-") ? 0 : 1);
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string with_commas(int64_t number);

// "1 file", "1,000 files".
std::string counted(int64_t count, std::string_view noun);

}  // namespace tethys
