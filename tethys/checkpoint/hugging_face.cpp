#include "checkpoint/hugging_face.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/planted_bug.h"
#include "checkpoint/json.h"
#include "checkpoint/window.h"

namespace tethys {
namespace {

using nlohmann::json;

constexpr const char* kSingle = "model.safetensors";
constexpr const char* kIndex = "model.safetensors.index.json";

bool is_file(const Path& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

bool is_plain_name(const std::string& name) {
  return !name.empty() && name[0] != '.' && name.find('/') == std::string::npos && name.find('\0') == std::string::npos;
}

// The file of each tensor.
using WeightMap = std::map<std::string, std::string>;

WeightMap read_index(const Path& path) {
  const std::string where = path.string();
  const json index = parse_json(read_file(path), where);
  const json& map = member(index, "weight_map", where);
  if (!map.is_object()) user_error("{}: \"weight_map\" must be an object, got {}", where, map.type_name());
  if (map.empty()) user_error("{}: \"weight_map\" lists no tensor", where);
  WeightMap files;
  for (const auto& [tensor, value] : map.items()) {
    const std::string file = string_member(map, tensor.c_str(), where);
    if (!is_plain_name(file)) {
      user_error("{}: tensor \"{}\": {} is not a plain name of a file in the folder", where, tensor, value.dump());
    }
    files[tensor] = file;
  }
  return files;
}

void add_file(Manifest& manifest, const Path& folder, const std::string& name, const WeightMap* index) {
  const Path path = folder / name;
  MappedFile mapped(path);
  manifest.files[name] = {mapped.bytes().size(), ""};
  const SafetensorsFile file(std::move(mapped), path);
  for (const SafetensorsEntry& entry : file.entries()) {
    const auto before = manifest.tensors.find(entry.name);
    if (before != manifest.tensors.end()) {
      user_error("{}: tensor \"{}\" is in {} and in {}; a folder holds each once", folder.string(), entry.name,
                 before->second.pieces.at(0).file, name);
    }
    if (index != nullptr && !index->contains(entry.name)) {
      user_error("{}: tensor \"{}\" is in {}, but not in the index", (folder / kIndex).string(), entry.name, name);
    }
    manifest.tensors[entry.name] = {entry.type, {{name, whole(entry.type.dims), entry.name}}};
  }
}

// The pieces of tensor bytes that one file takes, in order.
std::vector<std::vector<SafetensorsSource>> shards_of(const std::vector<SafetensorsSource>& tensors, int64_t most) {
  std::vector<std::vector<SafetensorsSource>> shards(1);
  int64_t size = 0;
  for (const SafetensorsSource& tensor : tensors) {
    const int64_t bytes = tensor.type.bytes();
    if (!shards.back().empty() && bytes > most - size) {
      shards.emplace_back();
      size = 0;
    }
    shards.back().push_back(tensor);
    size += bytes;
  }
  return shards;
}

}  // namespace

Manifest read_hugging_face(const Path& folder) {
  Manifest manifest;
  if (is_file(folder / kSingle)) {
    add_file(manifest, folder, kSingle, nullptr);
    return manifest;
  }
  if (!is_file(folder / kIndex)) {
    user_error(
        "{}: expected {} or {} in it; weights in other formats (pytorch_model.bin) are not read: save the model "
        "as safetensors first",
        folder.string(), kSingle, kIndex);
  }
  const WeightMap index = read_index(folder / kIndex);
  std::set<std::string> files;
  for (const auto& [tensor, file] : index) {
    if (!files.insert(file).second) continue;
    if (!is_file(folder / file)) {
      user_error("{}: tensor \"{}\" is in {}, and there is no such file in the folder", (folder / kIndex).string(),
                 tensor, file);
    }
    add_file(manifest, folder, file, &index);
  }
  for (const auto& [tensor, file] : index) {
    const auto found = manifest.tensors.find(tensor);
    const std::string there = found == manifest.tensors.end() ? "in no file" : found->second.pieces[0].file;
    if (there == file || kPlantedBug) continue;
    user_error("{}: tensor \"{}\" should be in {}, and is {}{}", (folder / kIndex).string(), tensor, file,
               found == manifest.tensors.end() ? "" : "in ", there);
  }
  return manifest;
}

ManifestTensor stacked(const Path& folder, const Manifest& manifest, const std::vector<std::string>& names) {
  const TensorType& first = manifest.tensors.at(names.at(0)).type;
  ManifestTensor all{first, {}};
  all.type.dims.insert(all.type.dims.begin(), static_cast<int64_t>(names.size()));
  for (size_t i = 0; i < names.size(); ++i) {
    const ManifestTensor& one = manifest.tensors.at(names[i]);
    if (one.type.dtype != first.dtype) {
      user_error("{}: {} is {} and {} is {}; the experts' matrices of a layer have one dtype", folder.string(),
                 names[0], name_of(first.dtype), names[i], name_of(one.type.dtype));
    }
    require(one.type == first, "{} is {}, {} is {}", names[0], to_string(first), names[i], to_string(one.type));
    Window window = whole(all.type.dims);
    window.offset[0] = static_cast<int64_t>(i);
    window.extent[0] = 1;
    all.pieces.push_back({one.pieces.at(0).file, std::move(window), names[i]});
  }
  return all;
}

void require_equal_tensors(const Path& folder, const Manifest& manifest, const std::string& a, const std::string& b) {
  const ManifestTensor& first = manifest.tensors.at(a);
  const ManifestTensor& second = manifest.tensors.at(b);
  const auto differ = [&](const std::string& how) {
    user_error("{}: config.json ties {} to {}, but {}; set tie_word_embeddings to false, or leave {} out",
               folder.string(), b, a, how, b);
  };
  if (first.type != second.type) differ(to_string(first.type) + " is not " + to_string(second.type));
  const SafetensorsFile first_file(folder / first.pieces.at(0).file), second_file(folder / second.pieces.at(0).file);
  constexpr size_t kAtOnce = size_t{1} << 24;
  const std::span<const std::byte> x = first_file.bytes(*first_file.find(a)),
                                   y = second_file.bytes(*second_file.find(b));
  for (size_t at = 0; at < x.size(); at += kAtOnce) {
    const size_t size = std::min(kAtOnce, x.size() - at);
    if (std::memcmp(x.data() + at, y.data() + at, size) != 0) differ("their values differ");
    first_file.let_go(x.subspan(at, size));
    second_file.let_go(y.subspan(at, size));
  }
}

void write_hugging_face(const Path& folder, const std::vector<SafetensorsSource>& tensors, int64_t max_shard_size) {
  const std::vector<std::vector<SafetensorsSource>> shards = shards_of(tensors, max_shard_size);
  if (shards.size() == 1) {
    write_safetensors(folder / kSingle, shards[0]);
    return;
  }
  json map = json::object();
  int64_t total = 0;
  for (size_t i = 0; i < shards.size(); ++i) {
    const std::string name = fmt::format("model-{:05}-of-{:05}.safetensors", i + 1, shards.size());
    write_safetensors(folder / name, shards[i]);
    for (const SafetensorsSource& tensor : shards[i]) {
      map[tensor.name] = name;
      total += tensor.type.bytes();
    }
  }
  const json index = {{"metadata", {{"total_size", total}}}, {"weight_map", std::move(map)}};
  write_file(folder / kIndex, index.dump(2) + "\n");
}

}  // namespace tethys
