#include "checkpoint/safetensors.h"

#include "tests/fuzz/fuzz.h"

// A file that is taken has every byte of every tensor.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tethys;
  const Path path = fuzz_folder() / "a.safetensors";
  return fuzz({data, size}, [&](std::string_view content) {
    put(path, content);
    const SafetensorsFile file(path);
    size_t total = 0;
    for (const SafetensorsEntry& entry : file.entries()) {
      total += file.bytes(entry).size();
      require(file.find(entry.name) != nullptr, "{} is listed and not found", entry.name);
      require(file.bytes(entry).size() == static_cast<size_t>(entry.type.bytes()), "{} has other bytes", entry.name);
    }
    require(total < content.size(), "{} bytes of tensors in a file of {}", total, content.size());
  });
}
