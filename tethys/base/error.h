// Errors: a kind for each whose fault it may be.
//
// UserError      the input or the configuration is wrong; the message says what was expected, what was got, and the fix
// DiskError      the disk is full or broken: what was asked for was right
// InternalError  a bug in Tethys
// PjrtError      the device failed; declared in pjrt/error.h
//
// The library never prints and never exits: it throws, and tools/ turns the kind into an exit status.
//
//   if (steps < 1) user_error("training.steps must be at least 1, got {}", steps);
//   require(rank == 2, "transpose of a tensor of rank {}", rank);
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/shown.h"

namespace tethys {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class UserError : public Error {
 public:
  using Error::Error;
};

class DiskError : public Error {
 public:
  using Error::Error;
};

class InternalError : public Error {
 public:
  using Error::Error;
};

// An argument of a message: a text is shown (base/shown.h), whoever wrote it.
inline std::string argument_shown(std::string_view text) { return shown(text); }
template <typename Value>
requires(!std::is_convertible_v<const Value&, std::string_view>) const Value& argument_shown(const Value& value) {
  return value;
}

template <typename... Args>
[[noreturn]] void user_error(fmt::format_string<Args...> format, Args&&... args) {
  throw UserError(fmt::vformat(format, fmt::make_format_args(argument_shown(args)...)));
}

template <typename... Args>
[[noreturn]] void internal_error(fmt::format_string<Args...> format, Args&&... args) {
  throw InternalError(fmt::format(format, std::forward<Args>(args)...));
}

// Throws InternalError with the formatted message unless `condition` holds.
template <typename... Args>
void require(bool condition, fmt::format_string<Args...> format, Args&&... args) {
  if (!condition) internal_error(format, std::forward<Args>(args)...);
}

}  // namespace tethys
