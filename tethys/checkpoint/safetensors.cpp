#include "checkpoint/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/error.h"
#include "base/planted_bug.h"
#include "checkpoint/hashed_file.h"
#include "checkpoint/json.h"
#include "checkpoint/window.h"

namespace tethys {
namespace {

static_assert(std::endian::native == std::endian::little, "the bytes of tensors are written as they lie in memory");

constexpr uint64_t kLengthBytes = 8;
constexpr uint64_t kMaxHeader = 100'000'000;
constexpr const char* kMetadata = "__metadata__";

constexpr std::pair<DType, const char*> kNames[] = {
    {DType::Bool, "BOOL"}, {DType::S8, "I8"},   {DType::S16, "I16"}, {DType::S32, "I32"}, {DType::S64, "I64"},
    {DType::U8, "U8"},     {DType::U16, "U16"}, {DType::U32, "U32"}, {DType::U64, "U64"}, {DType::F16, "F16"},
    {DType::BF16, "BF16"}, {DType::F32, "F32"}, {DType::F64, "F64"}};

const char* safetensors_name(DType dtype) {
  for (const auto& [d, name] : kNames) {
    if (d == dtype) return name;
  }
  internal_error("no safetensors name of dtype {}", name_of(dtype));
}

DType parse_safetensors_dtype(const std::string& text, const std::string& where) {
  for (const auto& [dtype, name] : kNames) {
    if (text == name) return dtype;
  }
  std::string known;
  for (const auto& [dtype, name] : kNames) known += (known.empty() ? "" : " ") + std::string(name);
  user_error("{}: dtype \"{}\" is not one of {}", where, text, known);
}

std::string_view header_of(std::span<const std::byte> bytes, const std::string& file) {
  if (bytes.size() < kLengthBytes) user_error("{}: {} bytes are too few for a safetensors file", file, bytes.size());
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), kLengthBytes);
  if (length > kMaxHeader) {
    user_error("{}: a header of {} bytes, where {} are allowed: this is no safetensors file", file, length, kMaxHeader);
  }
  if (length > bytes.size() - kLengthBytes) {
    user_error("{}: a header of {} bytes, but the file ends after {}: it is cut short", file, length,
               bytes.size() - kLengthBytes);
  }
  const std::string_view header(reinterpret_cast<const char*>(bytes.data()) + kLengthBytes, length);
  if (!header.starts_with('{')) user_error("{}: the header does not begin with {{", file);
  return header;
}

SafetensorsEntry parse_entry(const std::string& name, const nlohmann::json& value, const std::string& file) {
  const std::string where = fmt::format("{}: tensor \"{}\"", file, name);
  SafetensorsEntry entry;
  entry.name = name;
  entry.type.dtype = parse_safetensors_dtype(string_member(value, "dtype", where), where);
  entry.type.dims = dims_member(value, "shape", where);
  const Dims offsets = dims_member(value, "data_offsets", where);
  if (offsets.size() != 2) user_error("{}: data_offsets must be [begin, end], got {}", where, to_string(offsets));
  if (offsets[0] > offsets[1]) user_error("{}: data_offsets {} run backwards", where, to_string(offsets));
  entry.begin = static_cast<uint64_t>(offsets[0]);
  entry.end = static_cast<uint64_t>(offsets[1]);
  const std::optional<int64_t> bytes = checked_bytes(entry.type.dtype, entry.type.dims);
  if (!bytes) user_error("{}: the size of {} overflows", where, to_string(entry.type));
  if (entry.end - entry.begin != static_cast<uint64_t>(*bytes) && !kPlantedBug) {
    user_error("{}: {} takes {} bytes, but data_offsets {} hold {}", where, to_string(entry.type), *bytes,
               to_string(offsets), offsets[1] - offsets[0]);
  }
  return entry;
}

std::map<std::string, std::string> parse_metadata(const nlohmann::json& value, const std::string& file) {
  const std::string where = fmt::format("{}: {}", file, kMetadata);
  if (!value.is_object()) user_error("{}: expected an object of strings, got {}", where, value.type_name());
  std::map<std::string, std::string> metadata;
  for (const auto& [key, text] : value.items()) metadata[key] = string_member(value, key.c_str(), where);
  return metadata;
}

// The tensors lie end to end, in order, from the first byte of the data to the last.
void check_contiguous(const std::vector<SafetensorsEntry>& entries, uint64_t data_bytes, const std::string& file) {
  uint64_t at = 0;
  for (const SafetensorsEntry& e : entries) {
    if (e.begin != at) {
      user_error("{}: tensor \"{}\" begins at byte {} of the data, expected {}: the tensors {}", file, e.name, e.begin,
                 at, e.begin < at ? "overlap" : "leave a hole");
    }
    at = e.end;
  }
  if (at != data_bytes) {
    user_error("{}: the tensors take {} bytes, but the file holds {}: it is {}", file, at, data_bytes,
               data_bytes < at ? "cut short" : "longer than its header says");
  }
}

std::string make_header(const std::vector<SafetensorsSource>& tensors,
                        const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header[kMetadata] = metadata;
  int64_t at = 0;
  for (const SafetensorsSource& t : tensors) {
    require(t.name != kMetadata && !header.contains(t.name), "tensor name \"{}\" is taken", t.name);
    header[t.name] = {
        {"dtype", safetensors_name(t.type.dtype)}, {"shape", t.type.dims}, {"data_offsets", {at, at + t.type.bytes()}}};
    at += t.type.bytes();
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  require(text.size() <= kMaxHeader, "a safetensors header of {} bytes", text.size());
  return text;
}

}  // namespace

SafetensorsFile::SafetensorsFile(MappedFile mapped, const Path& path) : file_(std::move(mapped)) {
  const std::string file = path.string();
  const std::string_view text = header_of(file_.bytes(), file);
  data_ = file_.bytes().subspan(kLengthBytes + text.size());
  const nlohmann::json header = parse_json(text, file);
  for (const auto& [name, value] : header.items()) {
    if (name == kMetadata) {
      metadata_ = parse_metadata(value, file);
    } else {
      entries_.push_back(parse_entry(name, value, file));
    }
  }
  std::sort(entries_.begin(), entries_.end(), [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  check_contiguous(entries_, data_.size(), file);
  for (size_t i = 0; i < entries_.size(); ++i) by_name_[entries_[i].name] = i;
}

const SafetensorsEntry* SafetensorsFile::find(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &entries_[found->second];
}

std::span<const std::byte> SafetensorsFile::bytes(const SafetensorsEntry& entry) const {
  return data_.subspan(entry.begin, entry.end - entry.begin);
}

WrittenFile write_safetensors(const Path& path, std::vector<SafetensorsSource> tensors,
                              const std::map<std::string, std::string>& metadata) {
  std::sort(tensors.begin(), tensors.end(), [](const SafetensorsSource& a, const SafetensorsSource& b) {
    const size_t width_a = size_of(a.type.dtype), width_b = size_of(b.type.dtype);
    return width_a != width_b ? width_a > width_b : a.name < b.name;
  });
  const std::string header = make_header(tensors, metadata);
  const uint64_t length = header.size();
  HashedFile file(path);
  file.write(std::as_bytes(std::span(&length, 1)));
  file.write(std::as_bytes(std::span(header)));
  std::unique_ptr<std::byte[]> buffer;
  size_t capacity = 0;
  for (const SafetensorsSource& t : tensors) {
    const auto size = static_cast<size_t>(t.type.bytes());
    if (size == 0) continue;
    if (t.view) {
      const std::span<const std::byte> bytes = t.view();
      require(bytes.size() == size, "{} bytes for {} {}", bytes.size(), t.name, to_string(t.type));
      file.write(bytes);
      continue;
    }
    if (size > capacity) {
      buffer.reset();  // first, so that they are not there both at once
      buffer = std::make_unique_for_overwrite<std::byte[]>(capacity = size);
    }
    const std::span<std::byte> bytes(buffer.get(), size);
    t.read(bytes);
    file.write(bytes);
  }
  return file.commit();
}

}  // namespace tethys
