#include "checkpoint/manifest.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/error.h"
#include "base/hash.h"
#include "checkpoint/json.h"

namespace tethys {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr uint64_t kVersion = 1;
constexpr size_t kShownDifferences = 5;

void sort_pieces(ManifestTensor& tensor) {
  std::sort(tensor.pieces.begin(), tensor.pieces.end(), [](const ManifestPiece& a, const ManifestPiece& b) {
    return std::tie(a.window.offset, a.window.extent, a.file) < std::tie(b.window.offset, b.window.extent, b.file);
  });
}

// An object with a member per line: a person can read it, and a difference of two manifests shows the tensor.
template <typename Map, typename ToJson>
std::string lines_of(const Map& map, ToJson to_json) {
  std::string text = "{";
  for (const auto& [name, value] : map) {
    text += fmt::format("{}\n{}:{}", text.size() == 1 ? "" : ",", json(name).dump(), to_json(value).dump());
  }
  return text + "\n}";
}

// All of the text but its first line, which holds the hash of this.
std::string body_of(const Manifest& manifest) {
  const TrainState& s = manifest.state;
  const ordered_json state = {
      {"step", s.step}, {"fingerprint", s.fingerprint}, {"seed", s.seed}, {"data_position", s.data_position}};
  auto file_json = [](const WrittenFile& f) { return ordered_json{{"size", f.size}, {"hash", f.hash}}; };
  auto tensor_json = [](const ManifestTensor& t) {
    ordered_json pieces = ordered_json::array();
    for (const ManifestPiece& p : t.pieces) {
      pieces.push_back(ordered_json{{"file", p.file}, {"offset", p.window.offset}, {"extent", p.window.extent}});
    }
    return ordered_json{{"dtype", name_of(t.type.dtype)}, {"shape", t.type.dims}, {"pieces", std::move(pieces)}};
  };
  return fmt::format("\"state\":{},\n\"files\":{},\n\"tensors\":{}}}\n", state.dump(),
                     lines_of(manifest.files, file_json), lines_of(manifest.tensors, tensor_json));
}

// A name in the checkpoint's own folder: a manifest from elsewhere must not reach other files.
bool is_plain_name(const std::string& name) {
  return !name.empty() && name[0] != '.' && name.find('/') == std::string::npos && name.find('\0') == std::string::npos;
}

WrittenFile parse_file(const std::string& name, const json& value, const std::string& where) {
  if (!is_plain_name(name)) user_error("{}: \"{}\" is not a plain file name", where, name);
  const std::string here = fmt::format("{}: file \"{}\"", where, name);
  return {unsigned_member(value, "size", here), string_member(value, "hash", here)};
}

ManifestPiece parse_piece(const json& value, const Manifest& manifest, const TensorType& type,
                          const std::string& where) {
  ManifestPiece piece{string_member(value, "file", where),
                      {dims_member(value, "offset", where), dims_member(value, "extent", where)}};
  if (!manifest.files.contains(piece.file)) user_error("{}: its file \"{}\" is not listed", where, piece.file);
  bool inside = piece.window.offset.size() == type.dims.size() && piece.window.extent.size() == type.dims.size();
  for (size_t d = 0; inside && d < type.dims.size(); ++d) {
    // In this order nothing overflows.
    inside = piece.window.extent[d] <= type.dims[d] && piece.window.offset[d] <= type.dims[d] - piece.window.extent[d];
  }
  if (!inside) {
    user_error("{}: the piece at {} with extent {} does not lie in {}", where, to_string(piece.window.offset),
               to_string(piece.window.extent), to_string(type));
  }
  return piece;
}

ManifestTensor parse_tensor(const std::string& name, const json& value, const Manifest& manifest,
                            const std::string& where) {
  const std::string here = fmt::format("{}: tensor \"{}\"", where, name);
  ManifestTensor tensor;
  const std::string dtype = string_member(value, "dtype", here);
  try {
    tensor.type.dtype = parse_dtype(dtype);
  } catch (const UserError& e) {
    user_error("{}: {}", here, e.what());
  }
  tensor.type.dims = dims_member(value, "shape", here);
  if (!checked_bytes(tensor.type.dtype, tensor.type.dims)) {
    user_error("{}: the size of {} overflows", here, to_string(tensor.type));
  }
  const json& pieces = member(value, "pieces", here);
  if (!pieces.is_array()) user_error("{}: \"pieces\" must be a list", here);
  for (const json& piece : pieces) tensor.pieces.push_back(parse_piece(piece, manifest, tensor.type, here));
  sort_pieces(tensor);
  return tensor;
}

std::string difference(const std::string& name, const TensorType* expected, const TensorType* found) {
  return fmt::format("\n  {}: expected {}, the checkpoint has {}", shown(name),
                     expected ? to_string(*expected) : "no such tensor", found ? to_string(*found) : "no such tensor");
}

}  // namespace

std::string piece_name(const std::string& tensor, const TensorType& type, const Window& window) {
  return window == whole(type.dims) ? tensor : tensor + to_string(window);
}

std::string hash_of(const Manifest& manifest) { return hash_hex(body_of(manifest)); }

std::string to_json(const Manifest& manifest) {
  const std::string body = body_of(manifest);
  return fmt::format("{{\"version\":{},\"hash\":\"{}\",\n{}", kVersion, hash_hex(body), body);
}

Manifest parse_manifest(std::string_view text, const std::string& where) {
  const json value = parse_json(text, where);
  const uint64_t version = unsigned_member(value, "version", where);
  if (version != kVersion) user_error("{}: version {} of the format, expected {}", where, version, kVersion);
  Manifest manifest;
  const std::string state_where = where + ": state";
  const json& state = member(value, "state", where);
  manifest.state = {count_member(state, "step", state_where), string_member(state, "fingerprint", state_where),
                    unsigned_member(state, "seed", state_where), count_member(state, "data_position", state_where)};
  for (const char* key : {"files", "tensors"}) {
    if (!member(value, key, where).is_object()) user_error("{}: \"{}\" must be an object", where, key);
  }
  for (const auto& [name, file] : value["files"].items()) manifest.files[name] = parse_file(name, file, where);
  for (const auto& [name, tensor] : value["tensors"].items()) {
    manifest.tensors[name] = parse_tensor(name, tensor, manifest, where);
  }
  if (hash_of(manifest) != string_member(value, "hash", where)) {
    user_error("{}: its content does not fit its hash: it is damaged; use another checkpoint", where);
  }
  return manifest;
}

std::optional<std::string> tiling_fault(const Manifest& manifest) {
  for (const auto& [name, tensor] : manifest.tensors) {
    const std::vector<ManifestPiece>& pieces = tensor.pieces;
    // Disjoint and, counted together, all elements: then each exactly once.
    int64_t missing = tensor.type.elements();
    for (size_t i = 0; i < pieces.size(); ++i) {
      const Window& a = pieces[i].window;
      missing -= a.elements();
      for (size_t j = i + 1; j < pieces.size(); ++j) {
        const Window& b = pieces[j].window;
        if (!a.offset.empty() && b.offset[0] >= a.offset[0] + a.extent[0]) break;  // so do all that follow
        if (!intersect(a, b)) continue;
        return fmt::format("pieces {} and {} of tensor \"{}\" overlap", to_string(a), to_string(b), name);
      }
    }
    if (missing != 0) {
      return fmt::format("the pieces of tensor \"{}\" hold {} of its {} elements", name,
                         tensor.type.elements() - missing, tensor.type.elements());
    }
  }
  return std::nullopt;
}

Manifest merge(const std::vector<Manifest>& parts) {
  require(!parts.empty(), "a checkpoint of no process");
  Manifest merged;
  merged.state = parts[0].state;
  for (const Manifest& part : parts) {
    require(part.state == merged.state, "the processes save different states: step {} and step {}", part.state.step,
            merged.state.step);
    for (const auto& [name, file] : part.files) {
      require(merged.files.emplace(name, file).second, "two processes wrote the file {}", name);
    }
    for (const auto& [name, tensor] : part.tensors) {
      ManifestTensor& into = merged.tensors.try_emplace(name, ManifestTensor{tensor.type, {}}).first->second;
      require(into.type == tensor.type, "the processes save {} as {} and {}", name, to_string(into.type),
              to_string(tensor.type));
      into.pieces.insert(into.pieces.end(), tensor.pieces.begin(), tensor.pieces.end());
    }
  }
  for (auto& [name, tensor] : merged.tensors) sort_pieces(tensor);
  return merged;
}

void require_tensors(const Manifest& manifest, const std::map<std::string, TensorType>& expected,
                     const std::string& where) {
  std::string differences;
  size_t count = 0;
  auto add = [&](const std::string& name, const TensorType* want, const TensorType* found) {
    if (count++ < kShownDifferences) differences += difference(name, want, found);
  };
  for (const auto& [name, type] : expected) {
    const auto found = manifest.tensors.find(name);
    if (found == manifest.tensors.end()) {
      add(name, &type, nullptr);
    } else if (found->second.type != type) {
      add(name, &type, &found->second.type);
    }
  }
  for (const auto& [name, tensor] : manifest.tensors) {
    if (!expected.contains(name)) add(name, nullptr, &tensor.type);
  }
  if (count == 0) return;
  const std::string more = count > kShownDifferences ? fmt::format("\n  and {} more", count - kShownDifferences) : "";
  throw UserError(
      fmt::format("{}: the checkpoint is of another model or dtype: {} of its tensors differ:{}{}\nUse the recipe that "
                  "it was saved with, or another checkpoint.",
                  shown(where), count, differences, more));
}

}  // namespace tethys
