#include <nlohmann/json.hpp>

#include "checkpoint/hugging_face.h"
#include "tests/fuzz/fuzz.h"

namespace tethys {
namespace {

// A folder with a file of one tensor for each digit, tensor "1" in 1.safetensors, and one more beside the folder.
const Path& folder_of_shards() {
  static const Path folder = [] {
    const Path made = fuzz_folder() / "model";
    std::filesystem::create_directory(made);
    const auto shard = [](const Path& path, const std::string& name) {
      write_safetensors(path, {{name, {DType::U8, {1}}, [](std::span<std::byte> bytes) { bytes[0] = {}; }}});
    };
    for (const char digit : std::string_view("0123456789")) {
      shard(made / (std::string(1, digit) + ".safetensors"), std::string(1, digit));
    }
    shard(fuzz_folder() / "1.safetensors", "1");
    return made;
  }();
  return folder;
}

}  // namespace
}  // namespace tethys

// An index that is taken names files in its folder, and for each tensor the one that has it.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tethys;
  const Path& folder = folder_of_shards();
  return fuzz({data, size}, [&](std::string_view content) {
    put(folder / "model.safetensors.index.json", content);
    const Manifest manifest = read_hugging_face(folder);
    require(!manifest.tensors.empty(), "no tensor");
    for (const auto& [name, file] : manifest.files) {
      require(Path(name).filename() == name && name[0] != '.', "{} is a path", name);
    }
    const nlohmann::json index = nlohmann::json::parse(content);
    for (const auto& [name, file] : index.at("weight_map").items()) {
      require(manifest.tensors.at(name).pieces.at(0).file == file.get<std::string>(), "{} is elsewhere", name);
    }
    for (const auto& [name, tensor] : manifest.tensors) {
      require(manifest.files.contains(tensor.pieces.at(0).file), "{} is in no file", name);
    }
  });
}
