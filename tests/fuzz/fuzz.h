// What every fuzz target shares. A target gives a parser bytes that it has never seen: it may take them or refuse them
// by a UserError; anything else that it throws, and all that the sanitizers see, is a finding.
//
//   extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
//     return fuzz({data, size}, [](std::string_view text) { parse(text); });
//   }
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/temporary_folder.h"

namespace tethys {

template <typename Parse>
int fuzz(std::span<const uint8_t> input, Parse&& parse) {
  try {
    parse(std::string_view(reinterpret_cast<const char*>(input.data()), input.size()));
  } catch (const UserError& refused) {
    if (std::string_view(refused.what()).empty()) std::abort();
  }
  return 0;
}

// The process's own folder, in memory where the system has such a place: a target that parses files writes them at each
// run. It goes with the process.
inline const Path& fuzz_folder() {
  static const TemporaryFolder folder;
  return folder.path();
}

// Without write_file's fsync.
inline void put(const Path& path, std::string_view content) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
}

}  // namespace tethys
