// Exit statuses, which scripts rely on.
//
//   0  done            1  the run failed, the disk is full, or a bug   2  a mistake of the user's
//   3  out of memory   4  a device that does not answer                128 + n  stopped by signal n, after saving
#pragma once

#include <exception>
#include <string>

namespace tethys {

inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kUserMistake = 2;
inline constexpr int kDoesNotFit = 3;
inline constexpr int kStuck = 4;

// That of a program which ends by this error.
int exit_status_of(const std::exception& error);

// What is printed of it: memory that there is not has no words of its own.
std::string message_of(const std::exception& error);

}  // namespace tethys
