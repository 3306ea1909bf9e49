// tethys --version: which program this is, and which plugin it takes.
#pragma once

#include <string>

namespace tethys {

struct Surroundings;

// "0.1.0, commit d18139e0c2a4", with -dirty after it where files differed from the commit. Defined in a file that the
// build writes, which belongs to the program alone.
extern const char* const kVersion;

// The program in the first line, the plugin of the cpu in the second. The process must have one thread.
std::string version_text(const Surroundings& surroundings);

}  // namespace tethys
