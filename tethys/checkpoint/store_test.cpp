#include "checkpoint/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <thread>

#include "base/error.h"
#include "base/temporary_folder.h"

namespace tethys {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

// The tensors of a made-up training at a step: a matrix whose rows do not divide by 4, and a scalar.
std::map<std::string, HostTensor> tensors_at(int64_t step) {
  std::vector<float> w(21);
  for (size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(step) + 0.1F * static_cast<float>(i);
  return {{"layers.0.w", HostTensor::of<float>({7, 3}, w)}, {"count", HostTensor::scalar<int64_t>(step)}};
}

PieceSource piece_of(const std::string& name, const HostTensor& tensor, const Window& window) {
  return {name, tensor.type(), window, [tensor, window](std::span<std::byte> out) {
            const TensorType& type = tensor.type();
            copy_shared(size_of(type.dtype), whole(type.dims), tensor.bytes(), window, out);
          }};
}

// What process `mesh.process_index()` saves when every matrix is Shard(0) over all axes.
std::vector<PieceSource> pieces_at(int64_t step, const Mesh& mesh) {
  std::vector<PieceSource> pieces;
  for (const auto& [name, tensor] : tensors_at(step)) {
    Placement placement = replicated(mesh);
    if (tensor.type().rank() > 0) placement.assign(placement.size(), shard(0));
    const std::vector<int64_t> mine = mesh.addressable();
    for (const OwnedWindow& owned : owned_windows(tensor.type().dims, placement, mesh)) {
      if (std::find(mine.begin(), mine.end(), owned.position) == mine.end()) continue;
      pieces.push_back(piece_of(name, tensor, owned.window));
    }
  }
  return pieces;
}

TrainState state_at(int64_t step) { return {step, "fingerprint", 42, 4 * step}; }

void save(const CheckpointStore& store, int64_t step, int64_t keep_latest_k = 0, const Mesh& mesh = Mesh()) {
  store.save(state_at(step), pieces_at(step, mesh), keep_latest_k);
}

void expect_content(const Path& path, int64_t step) {
  Checkpoint checkpoint(path);
  checkpoint.verify();
  EXPECT_EQ(checkpoint.manifest().state, state_at(step));
  for (const auto& [name, tensor] : tensors_at(step)) EXPECT_EQ(checkpoint.read(name), tensor) << name;
}

std::vector<std::string> names_in(const Path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename());
  return names;
}

template <typename Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const UserError& e) {
    return e.what();
  }
  return "no UserError";
}

const Mesh kFour({{"dp_shard", 4}});

TEST(Checkpoint, ThatIsRemovedWhileItIsOpenIsReadToItsEnd) {
  TemporaryFolder folder;
  const CheckpointStore store(folder.path());
  save(store, 1);
  Checkpoint checkpoint(store.path_of(1));
  remove_path(store.path_of(1));
  for (const auto& [name, tensor] : tensors_at(1)) EXPECT_EQ(checkpoint.read(name), tensor) << name;
}

// A run keeps its newest alone, and another process looks for it all the time.
TEST(Checkpoint, TheNewestIsOpenedWhileARunRemovesItsOlderOnes) {
  TemporaryFolder folder;
  const CheckpointStore store(folder.path());
  save(store, 1);
  std::atomic<bool> ended = false;
  std::thread run([&] {
    for (int64_t step = 2; step <= 150; ++step) save(store, step, 1);
    ended = true;
  });
  int64_t last = 0;
  while (!ended) {
    Checkpoint checkpoint = open_newest([&] { return find_checkpoint(folder.path()); });
    const int64_t step = checkpoint.manifest().state.step;
    EXPECT_GE(step, last);
    last = step;
    for (const auto& [name, tensor] : tensors_at(step)) EXPECT_EQ(checkpoint.read(name), tensor) << name;
  }
  run.join();
}

TEST(CheckpointStore, InAFolderThatIsALinkToItselfIsAUserErrorThatNamesIt) {
  TemporaryFolder folder;
  const Path loop = folder / "checkpoint";
  std::filesystem::create_symlink(loop, loop);
  for (const auto& look : std::initializer_list<std::function<void()>>{[&] { CheckpointStore(loop).newest(); },
                                                                       [&] { find_checkpoint(loop); },
                                                                       [&] { save(CheckpointStore(loop), 1); }}) {
    EXPECT_THAT([&] { look(); },
                testing::ThrowsMessage<UserError>(AllOf(HasSubstr("/checkpoint"), HasSubstr("Too many levels"))));
  }
}

TEST(CheckpointStore, TakesPiecesInAnyOrder) {
  TemporaryFolder folder;
  std::vector<PieceSource> pieces = pieces_at(20, kFour);
  std::reverse(pieces.begin(), pieces.end());
  const CheckpointStore store(folder.path());
  store.save(state_at(20), pieces, 0);
  expect_content(store.path_of(20), 20);
}

TEST(CheckpointStore, SavesAndLoadsTheSameBits) {
  TemporaryFolder folder;
  const CheckpointStore store(folder / "checkpoints");
  EXPECT_EQ(store.newest(), std::nullopt);
  save(store, 20);
  EXPECT_EQ(store.newest(), 20);
  EXPECT_THAT(names_in(folder / "checkpoints"), ElementsAre("step-00000020"));
  EXPECT_THAT(names_in(store.path_of(20)), UnorderedElementsAre("manifest.json", "process-00000.safetensors"));
  expect_content(store.path_of(20), 20);
  // Saved whole, a tensor has its own name in the file, for other programs.
  EXPECT_NE(SafetensorsFile(store.path_of(20) / "process-00000.safetensors").find("layers.0.w"), nullptr);
}

TEST(CheckpointStore, AnyWindowIsReadFromAnyPieces) {
  TemporaryFolder folder;
  const CheckpointStore store(folder.path());
  save(store, 20, 0, kFour);
  Checkpoint checkpoint(store.path_of(20));
  EXPECT_EQ(checkpoint.manifest().tensors.at("layers.0.w").pieces.size(), 4U);
  const HostTensor w = tensors_at(20).at("layers.0.w");
  for (const Window& window : {Window{{0, 0}, {7, 3}}, Window{{0, 1}, {7, 1}}, Window{{1, 0}, {4, 3}},
                               Window{{3, 1}, {2, 2}}, Window{{6, 2}, {1, 1}}, Window{{2, 0}, {0, 3}}}) {
    HostTensor expected(TensorType{DType::F32, window.extent});
    copy_shared(4, whole({7, 3}), w.bytes(), window, expected.bytes());
    EXPECT_EQ(checkpoint.read("layers.0.w", window), expected) << to_string(window);
  }
  EXPECT_THROW(checkpoint.read("layers.0.w", {{5, 0}, {4, 3}}), InternalError);
  EXPECT_THAT(error_of([&] { checkpoint.read("none"); }), HasSubstr("no tensor \"none\""));
}

TEST(CheckpointStore, ManyProcessesMakeOneCheckpoint) {
  TemporaryFolder folder;
  const CheckpointStore first(folder.path(), 0, 4), alone(folder / "alone");
  for (int64_t process : {3, 1, 2, 0}) {
    EXPECT_EQ(first.newest(), std::nullopt);
    const Mesh mesh({{"dp_shard", 4}}, process, 4);
    CheckpointStore(folder.path(), process, 4).write_part(state_at(20), pieces_at(20, mesh));
  }
  first.complete(20, 0);
  EXPECT_THAT(names_in(first.path_of(20)),
              UnorderedElementsAre("manifest.json", "process-00000.safetensors", "process-00001.safetensors",
                                   "process-00002.safetensors", "process-00003.safetensors"));
  expect_content(first.path_of(20), 20);
}

TEST(CheckpointStore, WithoutAllPartsThereIsNoCheckpoint) {
  TemporaryFolder folder;
  const CheckpointStore first(folder.path(), 0, 2);
  first.write_part(state_at(20), pieces_at(20, Mesh({{"dp_shard", 4}}, 0, 2)));
  EXPECT_THAT(error_of([&] { first.complete(20, 0); }), HasSubstr("process-00001.json"));
  EXPECT_EQ(first.newest(), std::nullopt);
  // The parts of a killed save by more processes do not get into one by fewer.
  CheckpointStore(folder.path(), 1, 2).write_part(state_at(20), pieces_at(20, Mesh({{"dp_shard", 4}}, 1, 2)));
  const CheckpointStore one(folder.path());
  save(one, 20);
  EXPECT_THAT(names_in(one.path_of(20)), UnorderedElementsAre("manifest.json", "process-00000.safetensors"));
  expect_content(one.path_of(20), 20);
}

TEST(CheckpointStore, PiecesThatDoNotTileAreABug) {
  TemporaryFolder folder;
  const CheckpointStore store(folder.path());
  std::vector<PieceSource> pieces = pieces_at(20, kFour);
  pieces.pop_back();
  EXPECT_THROW(store.save(state_at(20), pieces, 0), InternalError);
  EXPECT_EQ(store.newest(), std::nullopt);
}

TEST(CheckpointStore, TheSameTrainingHasTheSameHash) {
  TemporaryFolder a, b;
  for (int64_t step : {10, 20}) save(CheckpointStore(a.path()), step, 0, kFour);
  save(CheckpointStore(b.path()), 20, 0, kFour);
  auto manifest_of = [](const TemporaryFolder& f, const char* step) {
    return read_file(f.path() / step / "manifest.json");
  };
  EXPECT_EQ(manifest_of(a, "step-00000020"), manifest_of(b, "step-00000020"));
  EXPECT_NE(manifest_of(a, "step-00000010"), manifest_of(b, "step-00000020"));
}

TEST(CheckpointStore, KeepsTheLatest) {
  TemporaryFolder folder;
  const CheckpointStore store(folder.path());
  for (int64_t step : {5, 10, 15, 20}) save(store, step);
  EXPECT_THAT(store.steps(), ElementsAre(5, 10, 15, 20));
  save(store, 25, 3);
  EXPECT_THAT(store.steps(), ElementsAre(15, 20, 25));
  save(store, 30, 100);
  EXPECT_THAT(store.steps(), ElementsAre(15, 20, 25, 30));
  save(store, 35, 1);
  EXPECT_THAT(names_in(folder.path()), ElementsAre("step-00000035"));
  expect_content(store.path_of(35), 35);
}

TEST(CheckpointStore, WhatKilledRunsLeftIsIgnoredAndThenRemoved) {
  TemporaryFolder folder;
  const CheckpointStore store(folder.path());
  for (const char* name : {".step-00000030.partial", ".step-00000005.trash", "step-40", "step-0000004x"}) {
    make_directories(folder / name);
    write_file(folder / name / "manifest.json", "{}");
  }
  make_directories(folder / "step-00000050");  // has no manifest
  EXPECT_EQ(store.newest(), std::nullopt);
  save(store, 20);
  EXPECT_THAT(store.steps(), ElementsAre(20));
  EXPECT_THAT(names_in(folder.path()),
              UnorderedElementsAre("step-00000020", "step-40", "step-0000004x", "step-00000050"));
  make_directories(folder / ".step-00000030.partial");
  store.remove_leftovers();
  EXPECT_FALSE(std::filesystem::exists(folder / ".step-00000030.partial"));
}

TEST(CheckpointStore, AStepIsSavedOnce) {
  TemporaryFolder folder;
  const CheckpointStore store(folder.path());
  save(store, 20);
  EXPECT_THAT(error_of([&] { save(store, 20); }), AllOf(HasSubstr("step-00000020"), HasSubstr("exists already")));
  expect_content(store.path_of(20), 20);
}

TEST(CheckpointStore, StepsBeyondEightDigits) {
  TemporaryFolder folder;
  const CheckpointStore store(folder.path());
  for (int64_t step : {99'999'999, 100'000'000}) save(store, step);
  EXPECT_THAT(store.steps(), ElementsAre(99'999'999, 100'000'000));
}

class DamagedCheckpoint : public testing::Test {
 protected:
  DamagedCheckpoint() : store_(folder_.path()) { save(store_, 20, 0, kFour); }
  Path file() const { return store_.path_of(20) / "process-00000.safetensors"; }
  std::string error_of_loading() const {
    return error_of([&] {
      Checkpoint checkpoint(store_.path_of(20));
      for (const auto& [name, tensor] : tensors_at(20)) checkpoint.read(name);
    });
  }
  TemporaryFolder folder_;
  CheckpointStore store_;
};

TEST_F(DamagedCheckpoint, AFlippedByteAnywhereIsFound) {
  EXPECT_EQ(error_of_loading(), "no UserError");
  const std::string content = read_file(file());
  for (size_t i = 0; i < content.size(); i += 7) {
    std::string damaged = content;
    damaged[i] ^= 0x20;
    write_file(file(), damaged);
    EXPECT_THAT(error_of_loading(), AllOf(HasSubstr("process-00000.safetensors: its hash is"), HasSubstr("damaged")));
    EXPECT_NE(error_of([&] { Checkpoint(store_.path_of(20)).verify(); }), "no UserError");
  }
}

TEST_F(DamagedCheckpoint, AFileOfAnotherLengthIsFoundOnOpening) {
  const std::string content = read_file(file());
  for (const std::string& damaged : {content.substr(0, content.size() - 1), std::string(), content + "x"}) {
    write_file(file(), damaged);
    EXPECT_THAT(error_of([&] { Checkpoint checkpoint(store_.path_of(20)); }),
                HasSubstr(fmt::format("process-00000.safetensors: {} bytes, but the manifest says {}", damaged.size(),
                                      content.size())));
  }
}

TEST_F(DamagedCheckpoint, AMissingFileIsFoundOnOpening) {
  remove_path(file());
  EXPECT_THAT(error_of([&] { Checkpoint checkpoint(store_.path_of(20)); }),
              AllOf(HasSubstr("process-00000.safetensors"), HasSubstr("No such file")));
  remove_path(store_.path_of(20) / "manifest.json");
  EXPECT_THAT(error_of([&] { Checkpoint checkpoint(store_.path_of(20)); }),
              AllOf(HasSubstr("manifest.json"), HasSubstr("No such file")));
}

TEST_F(DamagedCheckpoint, AManifestThatDoesNotFitItsFilesIsFound) {
  const Path path = store_.path_of(20) / "manifest.json";
  const Manifest manifest = parse_manifest(read_file(path), "M");
  Manifest other = manifest;
  other.tensors["more"] = {{DType::F32, {1}}, {{"process-00000.safetensors", whole({1})}}};
  write_file(path, to_json(other));
  EXPECT_THAT(error_of([&] { Checkpoint(store_.path_of(20)).read("more"); }),
              HasSubstr("expected a tensor \"more\" of type f32[1], got none"));
  other = manifest;
  other.tensors["count"].type.dtype = DType::F64;
  write_file(path, to_json(other));
  EXPECT_THAT(error_of_loading(), HasSubstr("expected a tensor \"count\" of type f64[], got s64[]"));
  other = manifest;
  other.tensors["layers.0.w"].pieces.pop_back();
  write_file(path, to_json(other));
  EXPECT_THAT(error_of_loading(), AllOf(HasSubstr("manifest.json"), HasSubstr("hold 18 of its 21 elements")));
}

TEST(FindCheckpoint, TakesACheckpointAFolderOfThemOrARun) {
  TemporaryFolder run;
  const CheckpointStore store(run / "checkpoint");
  EXPECT_THAT(error_of([&] { find_checkpoint(run.path()); }), HasSubstr("holds no complete checkpoint"));
  EXPECT_THAT(error_of([&] { find_checkpoint(run / "none"); }), AllOf(HasSubstr("/none"), HasSubstr("no such folder")));
  save(store, 10);
  save(store, 20);
  EXPECT_EQ(find_checkpoint(run.path()), store.path_of(20));
  EXPECT_EQ(find_checkpoint(run / "checkpoint"), store.path_of(20));
  EXPECT_EQ(find_checkpoint(store.path_of(10)), store.path_of(10));
}

}  // namespace
}  // namespace tethys
