// The file of a shared library, looked at before it is loaded.
#pragma once

#include <string>

namespace tethys {

// Whether it is a 64-bit ELF file that ends before what its program headers say is in it: dlopen maps such a file, and
// whoever touches the missing part gets SIGBUS. What is no ELF file is for dlopen to refuse.
bool is_cut_short(const std::string& path);

}  // namespace tethys
