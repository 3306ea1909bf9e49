// Checkpoints and tensor files from the command line; nothing here runs on a device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "checkpoint/store.h"
#include "tools/testing.h"

namespace tethys {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class StoredRun : public testing::Test {
 protected:
  StoredRun() : store_(run() / "checkpoint") {
    for (const int64_t step : {10, 20}) {
      const HostTensor w = HostTensor::of<float>({2, 3}, {0, 1, 2, 3, 4, static_cast<float>(step)});
      const HostTensor b = HostTensor::of<uint8_t>({4}, {1, 2, 3, 4});
      store_.save({step, "f", 7, step},
                  {{"layers.0.w", w.type(), whole({2, 3}), {}, [&w] { return w.bytes(); }},
                   {"b\x1b[2J", b.type(), whole({4}), {}, [&b] { return b.bytes(); }}},
                  0);
    }
  }
  Path run() const { return folder_ / "run"; }
  std::string path_of(int64_t step, const char* file = "") const { return (store_.path_of(step) / file).string(); }

  TemporaryFolder folder_;
  CheckpointStore store_;
};

Ended verify(const Path& path) { return run_tethys({"checkpoint", "verify", path.string()}); }

TEST_F(StoredRun, IsVerifiedByItsNewestCheckpoint) {
  const Ended ended = verify(run());
  EXPECT_EQ(ended.status, 0) << ended.output;
  EXPECT_THAT(ended.output, AllOf(HasSubstr("step-00000020: step 20, 2 tensors"),
                                  HasSubstr("process-00000.safetensors"), HasSubstr(" ok\n"), HasSubstr("whole: ")));
  EXPECT_THAT(verify(path_of(10)).output, HasSubstr("step 10, 2 tensors"));
}

TEST_F(StoredRun, DamageIsNamedByItsFile) {
  const std::string file = path_of(20, "process-00000.safetensors"), manifest = path_of(20, "manifest.json");
  const std::string content = read_file(file), text = read_file(manifest);
  const auto expect_refused = [&](const std::string& name, const std::string& reason) {
    const Ended ended = verify(run());
    EXPECT_EQ(ended.status, 2) << ended.output;
    EXPECT_THAT(ended.output, AllOf(HasSubstr(name + ": "), HasSubstr(reason), Not(HasSubstr("whole: "))));
  };
  std::string flipped = content;
  flipped.back() ^= 1;
  write_file(file, flipped);
  expect_refused(file, "its hash is");
  write_file(file, content.substr(0, content.size() - 1));
  expect_refused(file, "bytes, but the manifest says");
  remove_path(file);
  expect_refused(file, "No such file");
  write_file(file, content);
  write_file(manifest, text.substr(0, text.size() / 2));
  expect_refused(manifest, "not valid JSON");
  remove_path(manifest);
  expect_refused(manifest, "missing");
}

TEST_F(StoredRun, IsListedWithWhatIsDamaged) {
  remove_path(path_of(10, "process-00000.safetensors"));
  const Ended ended = run_tethys({"checkpoint", "list", run().string()});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.output,
              AllOf(HasSubstr("damaged: " + path_of(10, "process-00000.safetensors")), HasSubstr("  20        2 ")));
  const Ended none = run_tethys({"checkpoint", "list", folder_.path().string()});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.output, HasSubstr("holds no checkpoint"));
}

TEST_F(StoredRun, IsInspectedTensorByTensor) {
  for (const std::string& path : {run().string(), path_of(20), path_of(20, "process-00000.safetensors")}) {
    const Ended ended = run_tethys({"inspect", path});
    EXPECT_EQ(ended.status, 0) << ended.output;
    // A name that would clear a terminal is shown and not obeyed.
    EXPECT_THAT(ended.output, AllOf(HasSubstr("b\\x1b[2J"), HasSubstr("layers.0.w  f32   [2,3]"), HasSubstr("24 bytes"),
                                    HasSubstr("2 tensors, 10 elements, 28 bytes")));
  }
  const Ended none = run_tethys({"inspect", (folder_ / "none.safetensors").string()});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.output, HasSubstr("none.safetensors: No such file"));
}

}  // namespace
}  // namespace tethys
