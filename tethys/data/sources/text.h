// Text sources: files by glob, one file = one document. Bytes are bytes: text that is not UTF-8 is taken as it is.
//
//   find_text_files({"/usr/lib/python3.11/**/*.py"});
#pragma once

#include <string>
#include <vector>

namespace tethys {

// The files that the patterns match (base/glob.h), each once, sorted by the bytes of the path: the same list on every
// machine that has them. A glob finds no name that begins with a dot, and goes through no link to a folder; what is
// spelt out before its first * or ? may be either. UserError if a pattern matches no file.
std::vector<std::string> find_text_files(const std::vector<std::string>& patterns);

}  // namespace tethys
