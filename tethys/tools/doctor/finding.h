// Finding: what one check of `tethys doctor` found on this machine.
#pragma once

#include <string>

namespace tethys {

struct Finding {
  enum class State : uint8_t { Ok, Note, Fault };
  State state = State::Ok;
  std::string what;    // "plugin"
  std::string detail;  // one line
  std::string fix;     // one line, of a Fault: what to do about it
};

}  // namespace tethys
