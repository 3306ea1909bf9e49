// A disk that is full, breaks or takes writes by halves, at every operation of a save: nothing that was saved is lost,
// and nothing half-written has a checkpoint's name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/faulty_disk.h"
#include "base/temporary_folder.h"
#include "checkpoint/store.h"

namespace tethys {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::UnorderedElementsAre;
using Fault = FaultyDisk::Fault;

// Large enough for several writes.
HostTensor made_at(int64_t step) {
  HostTensor tensor(TensorType{DType::F32, {300, 1000}});
  auto random = static_cast<uint64_t>(step);
  for (float& value : tensor.as<float>()) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    value = static_cast<float>(random >> 40);
  }
  return tensor;
}

const HostTensor& tensor_at(int64_t step) {
  static std::map<int64_t, HostTensor> made;
  if (!made.contains(step)) made[step] = made_at(step);
  return made[step];
}

void save(const CheckpointStore& store, int64_t step) {
  const HostTensor& tensor = tensor_at(step);
  const PieceSource piece{"w", tensor.type(), whole(tensor.type().dims), {}, [&tensor] { return tensor.bytes(); }};
  const PieceSource small{"b", {DType::F32, {}}, {{}, {}}, [](std::span<std::byte> out) {
                            std::fill(out.begin(), out.end(), std::byte{1});
                          }};
  store.save({step, "fingerprint", 1, step}, {piece, small}, 2);
}

struct Tried {
  std::string error;                // empty: the save went through
  std::vector<std::string> stages;  // what was done
};

Tried try_to_save(const CheckpointStore& store, int64_t step, int64_t at, Fault fault) {
  Tried tried;
  FaultyDisk disk({.at = at, .fault = fault});
  try {
    save(store, step);
  } catch (const Error& error) {
    tried.error = error.what();
  }
  tried.stages = disk.stages();
  return tried;
}

void expect_whole(const CheckpointStore& store, int64_t step) {
  Checkpoint checkpoint(store.path_of(step));
  checkpoint.verify();
  EXPECT_EQ(checkpoint.read("w"), tensor_at(step));
}

std::vector<std::string> names_in(const Path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename());
  return names;
}

class FaultySave : public testing::TestWithParam<Fault> {};

TEST_P(FaultySave, LosesNothingAtAnyOperation) {
  const Fault fault = GetParam();
  std::set<std::string> failed;  // stages at which the save did not go through
  for (int64_t at = 0;; ++at) {
    SCOPED_TRACE(at);
    TemporaryFolder folder;
    const CheckpointStore store(folder / "run");
    for (const int64_t step : {5, 10}) save(store, step);
    const Tried tried = try_to_save(store, 20, at, fault);
    if (static_cast<int64_t>(tried.stages.size()) <= at) break;
    if (!tried.error.empty()) {
      failed.insert(tried.stages[static_cast<size_t>(at)]);
      EXPECT_THAT(tried.error, AnyOf(HasSubstr("No space left on device"), HasSubstr("Input/output error")));
    }
    // The earlier one is there, and so is the new one if it has its name.
    EXPECT_THAT(store.steps(), testing::Contains(10));
    EXPECT_EQ(store.damaged(), std::nullopt);
    for (const int64_t step : store.steps()) expect_whole(store, step);
    if (tried.error.empty()) {
      EXPECT_EQ(*store.newest(), 20);
    }
    // With the disk mended the run goes on, and no trace is left.
    if (*store.newest() == 10) save(store, 20);
    save(store, 30);
    EXPECT_THAT(names_in(folder / "run"), UnorderedElementsAre("step-00000020", "step-00000030"));
    for (const int64_t step : store.steps()) expect_whole(store, step);
  }
  const std::vector<std::string> broken = {"make folder .step-N.partial",  "create process-N.safetensors",
                                           "write process-N.safetensors",  "flush process-N.safetensors",
                                           "rename process-N.safetensors", "write manifest.json",
                                           "flush manifest.json",          "rename step-N",
                                           "rename .step-N.trash",         "remove process-N.safetensors"};
  switch (fault) {
    case Fault::Broken: EXPECT_THAT(failed, IsSupersetOf(broken)); break;
    case Fault::Full: EXPECT_THAT(failed, IsSupersetOf(std::vector(broken.begin(), broken.begin() + 4))); break;
    default: EXPECT_TRUE(failed.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Disks, FaultySave, testing::Values(Fault::Full, Fault::Broken, Fault::Short),
                         [](const auto& info) {
                           return info.param == Fault::Full ? "Full" : info.param == Fault::Broken ? "Broken" : "Short";
                         });

}  // namespace
}  // namespace tethys
