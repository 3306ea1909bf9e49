// Standard error: what the program says besides its result. That nobody can be told there, as its disk is full or it is
// closed, changes nothing of what the program does, nor its exit status.
//
//   tell("tethys: there is no command 'trian'");
#pragma once

#include <string_view>

namespace tethys {

// Writes a line.
void tell(std::string_view line) noexcept;

// Holds the numbers of the three standard descriptors that are closed, so that no file which is opened gets one of them
// and what is meant for standard error. Reading or writing them fails as before.
void hold_standard_descriptors() noexcept;

}  // namespace tethys
