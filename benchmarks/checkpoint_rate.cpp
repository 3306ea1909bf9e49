// Saves and loads a made-up state of the size of a model's and prints how long each took, as a line of JSON.
// usage: checkpoint_rate FOLDER MEBIBYTES save|load|load-cold
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <cstring>

#include "checkpoint/store.h"

namespace tethys {
namespace {

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Matrices of 4096 columns and 16 MiB to 128 MiB, as a model of a few billion parameters has them, on one device.
std::vector<TensorType> types_of(int64_t mebibytes) {
  std::vector<TensorType> types;
  for (int64_t left = mebibytes; left > 0;) {
    const int64_t size = std::min<int64_t>(left, types.size() % 4 == 0 ? 128 : 16);
    types.push_back({DType::F32, {size * 64, 4096}});
    left -= size;
  }
  return types;
}

std::string name_of(size_t i) { return fmt::format("layers.{}.weight", i); }

double save(const CheckpointStore& store, const std::vector<TensorType>& types) {
  std::vector<HostTensor> state;
  for (const TensorType& type : types) {
    state.emplace_back(type);
    uint64_t random = state.size();
    for (uint32_t& word : state.back().as<uint32_t>())
      word = static_cast<uint32_t>((random *= 0x9E3779B97F4A7C15) >> 32);
  }
  std::vector<PieceSource> pieces;
  for (size_t i = 0; i < types.size(); ++i) {
    const HostTensor& tensor = state[i];
    pieces.push_back({name_of(i), types[i], whole(types[i].dims), {}, [&tensor] { return tensor.bytes(); }});
  }
  const auto begin = std::chrono::steady_clock::now();
  store.save({.step = 1, .fingerprint = "", .seed = 0, .data_position = 0}, pieces, 0);
  return seconds_since(begin);
}

// As if the machine had just started: what the save left in the page cache is dropped.
void drop_from_memory(const Path& file) {
  const int fd = ::open(file.c_str(), O_RDONLY);
  ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  ::close(fd);
}

double load(const CheckpointStore& store, const std::vector<TensorType>& types) {
  // As a run does, one tensor after the other into the same memory.
  std::vector<std::byte> buffer(size_t{128} << 20);
  const auto begin = std::chrono::steady_clock::now();
  Checkpoint checkpoint(store.path_of(1));
  for (size_t i = 0; i < types.size(); ++i) {
    checkpoint.read(name_of(i), whole(types[i].dims), std::span(buffer).first(static_cast<size_t>(types[i].bytes())));
  }
  return seconds_since(begin);
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.size() != 3) user_error("usage: checkpoint_rate FOLDER MEBIBYTES save|load|load-cold");
  const CheckpointStore store{Path(arguments[0])};
  const std::vector<TensorType> types = types_of(std::stoll(arguments[1]));
  if (arguments[2] == "load-cold") drop_from_memory(store.path_of(1) / "process-00000.safetensors");
  const double seconds = arguments[2] == "save" ? save(store, types) : load(store, types);
  fmt::print("{{\"seconds\": {:.4f}}}\n", seconds);
  return 0;
}

}  // namespace
}  // namespace tethys

int main(int argc, char** argv) {
  try {
    return tethys::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    fmt::print(stderr, "checkpoint_rate: {}\n", error.what());
    return 2;
  }
}
