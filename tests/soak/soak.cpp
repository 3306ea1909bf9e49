// soak: kills a training run at every operation of a save, and at random moments, and checks each time that the newest
// complete checkpoint loads and that the run goes on from it bit for bit.
// usage: soak PLUGIN [--short]     --short: one kill for each kind of operation, three random ones
//
// A run that is never stopped gives the hash of each step's checkpoint. Another is killed again and again: resumed, it
// saves after every step; the kill comes in its second save, so that each time a step and a save lie between. A disk
// layer (base/faulty_disk.h) counts the operations and makes the kill, a write's in its middle; the random ones come
// from outside.
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <thread>

#include "base/faulty_disk.h"
#include "base/temporary_folder.h"
#include "checkpoint/store.h"
#include "config/config.h"
#include "config/flags.h"
#include "train/training.h"

namespace tethys {
namespace {

constexpr int64_t kRandomKills = 200;
constexpr int64_t kKeep = 2;
const std::string kBetween = "between saves";

// What a child tells while it can: the parent reads it when the child is dead.
struct Shared {
  char stage[64] = {};        // of the operation that it did last, or was killed at
  int64_t operations = 0;     // that counted
  char stages[256][64] = {};  // theirs, in order
};

Shared& shared() {
  static auto* page =
      static_cast<Shared*>(::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  return *page;
}

int64_t operations_begun() { return std::atomic_ref(shared().operations).load(); }

void tell(const std::string& stage) { std::strncpy(shared().stage, stage.c_str(), sizeof(Shared::stage) - 1); }

void tell_operation(const std::string& stage) {
  tell(stage);
  Shared& page = shared();
  if (page.operations < 256) std::strncpy(page.stages[page.operations], stage.c_str(), sizeof(Shared::stage) - 1);
  ++std::atomic_ref(page.operations);
}

// A model whose state is a few MiB, so that a save takes several writes.
class Soak {
 public:
  Soak(std::string plugin, int64_t steps) : plugin_(std::move(plugin)), steps_(steps) {
    std::string tokens;
    for (int64_t i = 0; i <= steps * 4 * 16; ++i)
      tokens += {static_cast<char>(i * i * 7 % 256), static_cast<char>(i % 2)};
    write_file(folder_ / "tokens.bin", tokens);
  }

  Path run() const { return folder_ / "run"; }
  CheckpointStore store() const { return CheckpointStore(run() / "checkpoint"); }

  // Trains to step `last`, with the steps' hashes as lines of the file `hashes`.
  void train(const Path& output, int64_t last, bool keep_hashes) const {
    Config config;
    apply_flags(config, {"--data.tokens",
                         (folder_ / "tokens.bin").string(),
                         "--model.n_layers",
                         "2",
                         "--model.dim",
                         "64",
                         "--model.n_heads",
                         "4",
                         "--model.n_kv_heads",
                         "2",
                         "--model.ffn_dim",
                         "128",
                         "--model.vocab_size",
                         "512",
                         "--training.seq_len",
                         "16",
                         "--training.local_batch_size",
                         "4",
                         "--training.steps",
                         std::to_string(last),
                         "--lr_scheduler.warmup_steps",
                         "0",
                         "--lr_scheduler.decay_ratio",
                         "0",
                         "--checkpoint.interval",
                         "1",
                         "--checkpoint.keep_latest_k",
                         std::to_string(kKeep)});
    TrainingCallbacks callbacks;
    std::string hashes;
    const CheckpointStore store(output / "checkpoint");
    callbacks.line = [&](const std::string& line) {
      if (!line.starts_with("saved ")) return;
      tell(kBetween);
      if (keep_hashes) hashes += hash_of(Checkpoint(Path(line.substr(6))).manifest()) + "\n";
    };
    run_training(config, {.output = output, .resume = true, .machine = {plugin_, (folder_ / "cache").string(), ""}},
                 callbacks);
    if (keep_hashes) write_file(folder_ / "hashes", hashes);
  }

  // The same in a process of its own; gives how it ended, as waitpid does. `meanwhile` runs in this one.
  template <typename Meanwhile>
  int in_child(const FaultyDisk::Plan* plan, int64_t last, Meanwhile meanwhile) const {
    shared() = {};
    std::fflush(nullptr);
    const pid_t child = ::fork();
    require(child >= 0, "fork failed");
    if (child == 0) {
      try {
        std::optional<FaultyDisk> disk;
        if (plan != nullptr) disk.emplace(*plan);
        train(run(), last, false);
      } catch (const std::exception& error) {
        const bool expected = plan != nullptr && plan->fault == FaultyDisk::Fault::Full;
        fmt::print(stderr, "soak: a run failed{}: {}\n", expected ? ", as it should" : "", error.what());
        ::_exit(1);
      }
      ::_exit(0);
    }
    meanwhile(child);
    int status = 0;
    require(::waitpid(child, &status, 0) == child, "waitpid failed");
    return status;
  }
  int in_child(const FaultyDisk::Plan* plan, int64_t last) const {
    return in_child(plan, last, [](pid_t) {});
  }

  // What an uninterrupted run's checkpoints hash to, from step 1.
  void make_reference() {
    const pid_t child = ::fork();
    if (child == 0) {
      try {
        train(folder_ / "whole", steps_, true);
      } catch (const std::exception& error) {
        fmt::print(stderr, "soak: {}\n", error.what());
        ::_exit(1);
      }
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    require(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the uninterrupted run failed");
    const std::string text = read_file(folder_ / "hashes");
    for (size_t begin = 0; begin < text.size(); begin += 33) reference_.push_back(text.substr(begin, 32));
    require(static_cast<int64_t>(reference_.size()) == steps_, "{} saves of {} steps", reference_.size(), steps_);
  }

  // Every complete checkpoint is whole and that of the uninterrupted run. Gives the newest step.
  int64_t check() const {
    for (const int64_t step : store().steps()) {
      Checkpoint checkpoint(store().path_of(step));
      checkpoint.verify();
      const std::string hash = hash_of(checkpoint.manifest());
      if (hash != reference_.at(static_cast<size_t>(step) - 1)) {
        user_error("step {} differs from that of the run that was not killed", step);
      }
    }
    if (store().damaged()) user_error("{} lost its manifest", store().damaged()->string());
    return store().newest().value_or(0);
  }

  int64_t steps() const { return steps_; }

 private:
  TemporaryFolder folder_;
  std::string plugin_;
  int64_t steps_;
  std::vector<std::string> reference_;
};

// The operations of the second save after `newest`: from the first on its folder.
FaultyDisk::Plan plan_of(int64_t newest, int64_t at, FaultyDisk::Fault fault) {
  const auto begun = std::make_shared<bool>(false);
  const std::string first = fmt::format(".step-{:08}.partial", newest + 2);
  return {.at = at,
          .fault = fault,
          .counts =
              [begun, first](const Path& path) {
                *begun = *begun || path.filename() == first;
                const std::string text = path.string();
                return *begun && text.find("/checkpoint") != std::string::npos;
              },
          .seen = tell_operation};
}

bool runs(pid_t child) {
  siginfo_t ended = {};
  return ::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == 0;
}

struct Hits {
  int64_t enumerated = 0, random = 0;
};

class Kills {
 public:
  explicit Kills(Soak& soak) : soak_(soak) {}

  // Lets a save go through and counts what it does. The first saves remove nothing: a full folder comes first.
  void count_operations() {
    require(soak_.in_child(nullptr, kKeep + 1) == 0, "the first steps failed");
    newest_ = soak_.check();
    const FaultyDisk::Plan plan = plan_of(newest_, std::numeric_limits<int64_t>::max(), FaultyDisk::Fault::None);
    require(soak_.in_child(&plan, newest_ + 2) == 0, "the counted save failed");
    for (int64_t i = 0; i < shared().operations; ++i) operations_.emplace_back(shared().stages[i]);
    newest_ = soak_.check();
    fmt::print("a save has {} operations\n", operations_.size());
  }

  void at_each_operation(bool first_of_each_stage) {
    for (size_t at = 0; at < operations_.size(); ++at) {
      if (first_of_each_stage && hits_.contains(operations_[at])) continue;
      const FaultyDisk::Plan plan = plan_of(newest_, static_cast<int64_t>(at), FaultyDisk::Fault::Kill);
      const int status = soak_.in_child(&plan, soak_.steps());
      if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL || shared().stage != operations_[at]) {
        user_error("the kill at '{}' (operation {}) came at '{}'", operations_[at], at, shared().stage);
      }
      ++hits_[operations_[at]].enumerated;
      advance();
    }
  }

  // Half of them at any moment of two saves, which falls into the long operations; half a moment after any operation
  // began, which falls into the short ones too.
  void at_random(int64_t count) {
    std::mt19937 random(1);
    for (int64_t kill = 0; kill < count; ++kill) {
      const bool aimed = kill % 2 == 1;
      const auto begun = static_cast<int64_t>(aimed ? random() % operations_.size() : 0);
      const std::chrono::microseconds later(random() % (aimed ? 300 : 60000));
      // Counts all operations, from the first save on; kills none.
      FaultyDisk::Plan plan = plan_of(newest_ - 1, std::numeric_limits<int64_t>::max(), FaultyDisk::Fault::None);
      const int status = soak_.in_child(&plan, soak_.steps(), [&](pid_t child) {
        while (operations_begun() <= begun && runs(child)) std::this_thread::yield();
        std::this_thread::sleep_for(later);
        ::kill(child, SIGKILL);
      });
      if (!WIFSIGNALED(status)) user_error("the run ended before random kill {}", kill);
      ++hits_[shared().stage].random;
      advance();
    }
  }

  // A disk that is full from some operation on ends the run with its reason.
  void on_a_full_disk() {
    for (const int64_t at : {size_t{0}, size_t{3}, operations_.size() / 2}) {
      const FaultyDisk::Plan plan = plan_of(newest_, static_cast<int64_t>(at), FaultyDisk::Fault::Full);
      const int status = soak_.in_child(&plan, soak_.steps());
      if (!WIFEXITED(status) || WEXITSTATUS(status) == 0) user_error("a run on a full disk did not fail");
      advance();
    }
  }

  void go_to_the_end() {
    require(soak_.in_child(nullptr, newest_ + 3) == 0, "the last steps failed");
    const int64_t end = newest_ + 3;
    newest_ = soak_.check();
    if (newest_ != end) user_error("the run ended at step {} and not {}", newest_, end);
  }

  void print() const {
    fmt::print("{:<44} {:>10} {:>8}\n", "killed at", "enumerated", "random");
    for (const auto& [stage, hits] : hits_) fmt::print("{:<44} {:>10} {:>8}\n", stage, hits.enumerated, hits.random);
  }
  const std::map<std::string, Hits>& hits() const { return hits_; }

 private:
  void advance() {
    const int64_t before = newest_;
    newest_ = soak_.check();
    if (newest_ < before) user_error("the newest checkpoint fell back from step {} to {}", before, newest_);
    if (newest_ + 4 > soak_.steps()) user_error("the uninterrupted run of {} steps is too short", soak_.steps());
  }

  Soak& soak_;
  std::vector<std::string> operations_;  // of one save, as stages
  int64_t newest_ = 0;
  std::map<std::string, Hits> hits_;
};

int run(const std::vector<std::string>& arguments) {
  if (arguments.empty()) user_error("usage: soak PLUGIN [--short]");
  const bool brief = arguments.size() > 1 && arguments[1] == "--short";
  Soak soak(arguments[0], brief ? 100 : 1500);
  const auto begin = std::chrono::steady_clock::now();
  soak.make_reference();
  Kills kills(soak);
  kills.count_operations();
  kills.at_each_operation(brief);
  kills.on_a_full_disk();
  kills.at_random(brief ? 3 : kRandomKills);
  kills.go_to_the_end();
  kills.print();
  int64_t enumerated = 0, random = 0;
  for (const auto& [stage, hits] : kills.hits()) enumerated += hits.enumerated, random += hits.random;
  fmt::print(
      "{} kills at operations and {} at random moments in {:.0f} s: each time the newest checkpoint was whole and "
      "the run went on bit for bit\n",
      enumerated, random, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  return 0;
}

}  // namespace
}  // namespace tethys

int main(int argc, char** argv) {
  ::setenv("TF_CPP_MIN_LOG_LEVEL", "3", 0);  // plugins read it when they are loaded
  try {
    return tethys::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    fmt::print(stderr, "soak: {}\n", error.what());
    return 1;
  }
}
