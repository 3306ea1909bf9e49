#include "checkpoint/store.h"

#include <algorithm>

#include "base/error.h"
#include "base/hash.h"
#include "base/number.h"

namespace tethys {
namespace {

constexpr const char* kManifest = "manifest.json";
constexpr std::string_view kPartial = ".partial";
constexpr std::string_view kTrash = ".trash";

std::string step_name(int64_t step) { return fmt::format("step-{:08}", step); }
std::string file_name(int64_t process) { return fmt::format("process-{:05}.safetensors", process); }
std::string part_name(int64_t process) { return fmt::format("process-{:05}.json", process); }

std::optional<int64_t> parse_step(const std::string& name) {
  constexpr std::string_view kPrefix = "step-";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  const auto step = parse_number<int64_t>(std::string_view(name).substr(kPrefix.size()));
  // Only the one spelling that we write: "step-20" is somebody else's.
  return step && name == step_name(*step) ? step : std::nullopt;
}

// What a killed save or removal leaves: ".step-….partial", ".step-….trash".
bool is_leftover(const std::string& name) {
  return name.starts_with(".step-") && (name.ends_with(kPartial) || name.ends_with(kTrash));
}

Manifest read_manifest(const Path& path) { return parse_manifest(read_file(path), path.string()); }

}  // namespace

CheckpointStore::CheckpointStore(Path folder, int64_t process_index, int64_t process_count)
    : folder_(std::move(folder)), process_index_(process_index), process_count_(process_count) {
  require(0 <= process_index && process_index < process_count, "process {} of {}", process_index, process_count);
}

std::map<int64_t, bool> CheckpointStore::found() const {
  if (!is_there(folder_)) return {};
  std::map<int64_t, bool> found;
  for (const std::string& name : names_in(folder_)) {
    const std::optional<int64_t> step = parse_step(name);
    if (step) found[*step] = is_there(folder_ / name / kManifest);
  }
  return found;
}

std::vector<int64_t> CheckpointStore::steps() const {
  std::vector<int64_t> steps;
  for (const auto& [step, complete] : found()) {
    if (complete) steps.push_back(step);
  }
  return steps;
}

std::optional<Path> CheckpointStore::damaged() const {
  std::optional<Path> damaged;
  for (const auto& [step, complete] : found()) {
    if (!complete) damaged = path_of(step);
  }
  return damaged;
}

std::optional<int64_t> CheckpointStore::newest() const {
  const std::vector<int64_t> all = steps();
  return all.empty() ? std::nullopt : std::optional(all.back());
}

Path CheckpointStore::path_of(int64_t step) const { return folder_ / step_name(step); }

Path CheckpointStore::partial_path(int64_t step) const {
  return folder_ / fmt::format(".{}{}", step_name(step), kPartial);
}

void CheckpointStore::save(const TrainState& state, const std::vector<PieceSource>& pieces,
                           int64_t keep_latest_k) const {
  require(process_count_ == 1, "save by one of {} processes", process_count_);
  write_part(state, pieces);
  complete(state.step, keep_latest_k);
}

void CheckpointStore::write_part(const TrainState& state, const std::vector<PieceSource>& pieces) const {
  require(state.step >= 0, "a checkpoint of step {}", state.step);
  if (is_there(path_of(state.step))) {
    user_error("{} exists already: remove it, or choose another output folder", path_of(state.step).string());
  }
  const std::string file = file_name(process_index_);
  Manifest part;
  part.state = state;
  std::vector<SafetensorsSource> sources;
  for (const PieceSource& piece : pieces) {
    ManifestTensor& tensor = part.tensors.try_emplace(piece.name, ManifestTensor{piece.type, {}}).first->second;
    require(tensor.type == piece.type, "pieces of {} have types {} and {}", piece.name, to_string(tensor.type),
            to_string(piece.type));
    if (piece.window.elements() == 0) continue;  // nothing to save, but the tensor is in the manifest
    tensor.pieces.push_back({file, piece.window});
    sources.push_back({piece_name(piece.name, piece.type, piece.window),
                       {piece.type.dtype, piece.window.extent},
                       piece.read,
                       piece.view});
  }
  const Path partial = partial_path(state.step);
  make_directories(partial);
  part.files[file] = write_safetensors(partial / file, std::move(sources));
  write_file(partial / part_name(process_index_), to_json(merge({part})));  // merging puts the pieces in order
}

void CheckpointStore::complete(int64_t step, int64_t keep_latest_k) const {
  require(process_index_ == 0, "process {} completes a checkpoint", process_index_);
  const Path partial = partial_path(step);
  std::vector<Manifest> parts;
  for (int64_t process = 0; process < process_count_; ++process) {
    parts.push_back(read_manifest(partial / part_name(process)));
  }
  const Manifest manifest = merge(parts);
  require(manifest.state.step == step, "step {} is completed as step {}", manifest.state.step, step);
  const std::optional<std::string> fault = tiling_fault(manifest);
  require(!fault, "a checkpoint whose pieces do not fit: {}", fault.value_or(""));
  write_file(partial / kManifest, to_json(manifest));
  // The parts have done their work, and a killed save by more processes may have left others.
  for (const std::string& name : names_in(partial)) {
    if (name != kManifest && !manifest.files.contains(name)) remove_path(partial / name);
  }
  sync_directory(partial);
  rename_path(partial, path_of(step));
  prune(keep_latest_k);
}

void CheckpointStore::prune(int64_t keep_latest_k) const {
  require(keep_latest_k >= 0, "checkpoint.keep_latest_k of {}", keep_latest_k);
  const std::vector<int64_t> all = steps();
  const size_t keep = keep_latest_k == 0 ? all.size() : std::min(all.size(), static_cast<size_t>(keep_latest_k));
  // Out of its name at once, then gone piece by piece: half a checkpoint never has the name of a whole one.
  for (size_t i = 0; i + keep < all.size(); ++i) {
    const Path trash = folder_ / fmt::format(".{}{}", step_name(all[i]), kTrash);
    remove_path(trash);
    rename_path(path_of(all[i]), trash);
  }
  remove_leftovers();
}

void CheckpointStore::remove_leftovers() const {
  if (!is_there(folder_)) return;
  for (const std::string& name : names_in(folder_)) {
    if (is_leftover(name)) remove_path(folder_ / name);
  }
}

Checkpoint::Checkpoint(Path path) : path_(std::move(path)), manifest_(read_manifest(path_ / kManifest)) {
  if (const std::optional<std::string> fault = tiling_fault(manifest_)) {
    user_error("{}: {}", (path_ / kManifest).string(), *fault);
  }
  for (const auto& [name, file] : manifest_.files) {
    const Path here = path_ / name;
    if (!is_there(here)) user_error("{}: No such file; the checkpoint is not whole; use another one", here.string());
    const size_t size = mapped_.emplace(name, here).first->second.bytes().size();
    if (size != file.size) {
      user_error("{}: {} bytes, but the manifest says {}: the file is damaged; use another checkpoint", here.string(),
                 size, file.size);
    }
  }
}

Checkpoint::Checkpoint(Path path, Manifest manifest)
    : path_(std::move(path)), manifest_(std::move(manifest)), foreign_(true) {}

const SafetensorsFile& Checkpoint::checked_file(const std::string& name) {
  if (const auto found = open_.find(name); found != open_.end()) return found->second;
  const Path here = path_ / name;
  // Before anything in the file is believed; then also its header is what we wrote.
  const std::string& expected = manifest_.files.at(name).hash;
  const auto mapped = mapped_.find(name);
  MappedFile file = mapped == mapped_.end() ? MappedFile(here) : std::move(mapped->second);
  const std::string hash = foreign_ ? expected : hash_file(file).hash;
  if (hash != expected) {
    user_error("{}: its hash is {}, but the manifest says {}: the file is damaged; use another checkpoint",
               here.string(), hash, expected);
  }
  if (mapped != mapped_.end()) mapped_.erase(mapped);
  return open_.emplace(name, SafetensorsFile(std::move(file), here)).first->second;
}

const SafetensorsEntry& Checkpoint::checked_entry(const std::string& tensor, const TensorType& type,
                                                  const ManifestPiece& piece) {
  const std::string key = foreign_ ? piece.name : piece_name(tensor, type, piece.window);
  TensorType expected{type.dtype, piece.window.extent};
  const SafetensorsEntry* entry = checked_file(piece.file).find(key);
  const bool is_index = foreign_ && expected.rank() > 0 && expected.dims[0] == 1;
  if (is_index && entry && entry->type.rank() < expected.rank()) expected.dims.erase(expected.dims.begin());
  if (!entry || entry->type != expected) {
    user_error("{}: expected a tensor \"{}\" of type {}, got {}", (path_ / piece.file).string(), key,
               to_string(expected), entry ? to_string(entry->type) : "none");
  }
  return *entry;
}

void Checkpoint::verify(const std::string& file) {
  size_t pieces = 0;
  const size_t entries = checked_file(file).entries().size();
  for (const auto& [name, tensor] : manifest_.tensors) {
    for (const ManifestPiece& piece : tensor.pieces) {
      if (piece.file != file) continue;
      checked_entry(name, tensor.type, piece);
      ++pieces;
    }
  }
  if (pieces != entries) {
    user_error("{}: it holds {} tensors, but the manifest says {}: they are not of one checkpoint",
               (path_ / file).string(), entries, pieces);
  }
}

void Checkpoint::verify() {
  for (const auto& [name, file] : manifest_.files) verify(name);
}

void Checkpoint::read(const std::string& name, const Window& window, std::span<std::byte> out) {
  const auto found = manifest_.tensors.find(name);
  if (found == manifest_.tensors.end()) user_error("{}: no tensor \"{}\"", path_.string(), name);
  const TensorType& type = found->second.type;
  const std::optional<Window> inside = intersect(window, whole(type.dims));
  require(window.elements() == 0 || inside == window, "window {} of {} {}", to_string(window), name, to_string(type));
  for (const ManifestPiece& piece : found->second.pieces) {
    if (!intersect(piece.window, window)) continue;
    const SafetensorsEntry& entry = checked_entry(name, type, piece);
    const SafetensorsFile& file = open_.at(piece.file);
    copy_shared(size_of(type.dtype), piece.window, file.bytes(entry), window, out);
    file.let_go(file.bytes(entry));
  }
}

HostTensor Checkpoint::read(const std::string& name, const Window& window) {
  const auto found = manifest_.tensors.find(name);
  if (found == manifest_.tensors.end()) user_error("{}: no tensor \"{}\"", path_.string(), name);
  HostTensor tensor(TensorType{found->second.type.dtype, window.extent});
  read(name, window, tensor.bytes());
  return tensor;
}

HostTensor Checkpoint::read(const std::string& name) {
  const auto found = manifest_.tensors.find(name);
  if (found == manifest_.tensors.end()) user_error("{}: no tensor \"{}\"", path_.string(), name);
  return read(name, whole(found->second.type.dims));
}

Path find_checkpoint(const Path& path) {
  if (is_there(path / kManifest)) return path;
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) {
    if (!is_there(path)) user_error("no checkpoint {}: there is no such folder", path.string());
    user_error("{} is a file; give its folder, {}", path.string(), whole_path(path).parent_path().string());
  }
  for (const Path& folder : {path, path / "checkpoint"}) {
    const CheckpointStore store(folder);
    if (const std::optional<int64_t> step = store.newest()) return store.path_of(*step);
  }
  user_error(
      "{} holds no complete checkpoint: expected one (a folder with {}), a folder of step-NNNNNNNN folders, or the "
      "output folder of a run that has saved",
      path.string(), kManifest);
}

Checkpoint open_newest(const std::function<Path()>& find) {
  constexpr int kTries = 5;
  for (int tries = 1; tries < kTries; ++tries) {
    try {
      return Checkpoint(find());
    } catch (const UserError&) {  // the last try says what is wrong
    }
  }
  return Checkpoint(find());
}

}  // namespace tethys
