// What the tests of this folder share: running the built program as a process of its own, and reading what a run left.
#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/temporary_folder.h"
#include "train/metrics.h"

namespace tethys {

struct Ended {
  int status = 0;           // the exit status; 128 + n where signal n killed it
  std::string output;       // standard output and error together
  int64_t peak_memory = 0;  // bytes that were resident
};

// A program that runs. It must be awaited.
class Process {
 public:
  explicit Process(const std::vector<std::string>& arguments, const Path& cache = cache_folder(),
                   const Path& input = "/dev/null") {
    std::vector<char*> argv{const_cast<char*>(TETHYS_PROGRAM)};
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    const std::string log = (folder_ / "output").string();
    pid_ = ::fork();
    require(pid_ >= 0, "fork failed");
    if (pid_ == 0) {
      const int file = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
      ::dup2(::open(input.c_str(), O_RDONLY), STDIN_FILENO);
      ::dup2(file, STDOUT_FILENO);
      ::dup2(file, STDERR_FILENO);
      // A shell that started the tests in the background may have told them to ignore it.
      for (int number : {SIGINT, SIGHUP, SIGTERM}) ::signal(number, SIG_DFL);
      ::setenv("XDG_CACHE_HOME", cache.c_str(), 1);
      ::execv(TETHYS_PROGRAM, argv.data());
      ::_exit(127);
    }
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // What it has printed so far.
  std::string output() const {
    const Path log = folder_ / "output";
    return std::filesystem::exists(log) ? read_file(log) : "";
  }
  void kill(int signal) const { ::kill(pid_, signal); }
  bool running() {
    if (!ended_ && ::wait4(pid_, &status_, WNOHANG, &usage_) == pid_) ended_ = true;
    return !ended_;
  }
  Ended await() {
    if (!ended_) ::wait4(pid_, &status_, 0, &usage_);
    ended_ = true;
    return {WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_), read_file(folder_ / "output"),
            int64_t{usage_.ru_maxrss} * 1024};
  }

  // Where the programs of one test process keep what can be made again.
  static const Path& cache_folder() {
    static const TemporaryFolder folder;
    return folder.path();
  }

 private:
  TemporaryFolder folder_;
  pid_t pid_ = -1;
  int status_ = 0;
  rusage usage_ = {};
  bool ended_ = false;
};

inline Ended run_tethys(const std::vector<std::string>& arguments) { return Process(arguments).await(); }

// A failure of the test if the program did not end well.
inline void expect_done(const Ended& ended) {
  require(ended.status == 0, "exit status {}: {}", ended.status, ended.output);
}

using Flags = std::vector<std::string>;

inline Flags operator+(Flags a, const Flags& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// What `tethys generate` printed, without its speed.
inline std::string said_by(const Ended& generate) {
  const size_t speed = generate.output.rfind("prefill: ");
  require(generate.status == 0 && speed != std::string::npos, "{}", generate.output);
  return generate.output.substr(0, speed);
}

// A folder with a few thousand words of text that a grammar makes, and a tokenizer for it.
class SmallCorpus {
 public:
  SmallCorpus() {
    std::filesystem::create_directory(folder_ / "text");
    uint32_t random = 1;
    const auto word = [&random](std::initializer_list<const char*> words) {
      random = random * 1664525U + 1013904223U;
      return std::string(words.begin()[(random >> 16) % words.size()]);
    };
    for (int document = 0; document < 40; ++document) {
      std::string text;
      for (int line = 0; line < 25; ++line) {
        text += word({"the", "a", "one", "every"}) + " " + word({"cat", "dog", "ship", "tree", "king"}) + " " +
                word({"sees", "takes", "leaves"}) + " " + word({"the", "a", "no"}) + " " +
                word({"road", "moon", "house", "river"}) + word({".\n", ",\n", " and\n"});
      }
      write_file(folder_ / ("text/" + std::to_string(document) + ".txt"), text);
    }
    const Ended ended = run_tethys({"tokenizer", "train", text(), "--vocab_size", "300", "--output", tokenizer()});
    require(ended.status == 0, "{}", ended.output);
  }
  std::string text() const { return (folder_ / "text/*.txt").string(); }
  std::string tokenizer() const { return (folder_ / "tokenizer.json").string(); }

  // A model that takes milliseconds a step, on this text.
  std::vector<std::string> train(const Path& output) const {
    return {"train",
            "llama3_debugmodel",
            "--output",
            output.string(),
            "--data.text",
            text(),
            "--data.tokenizer",
            tokenizer(),
            "--data.holdout",
            "0.1",
            "--model.n_layers",
            "2",
            "--model.dim",
            "32",
            "--model.n_heads",
            "4",
            "--model.n_kv_heads",
            "2",
            "--model.ffn_dim",
            "64",
            "--model.vocab_size",
            "300",
            "--training.seq_len",
            "32",
            "--training.steps",
            "40",
            "--training.local_batch_size",
            "4",
            "--no-graph.scan_layers"};
  }

 private:
  TemporaryFolder folder_;
};

inline const SmallCorpus& corpus() {
  static const SmallCorpus shared;
  return shared;
}

// Its steps on four devices.
inline const Flags kFsdp4 = {"--parallelism.data_parallel_shard_degree", "4", "--training.local_batch_size", "1"};

// The model with experts, which its steps cut over four devices that share data and tokens.
inline const Flags kExperts4 = {"--model.name",
                                "qwen3_moe",
                                "--model.n_experts",
                                "8",
                                "--model.experts_per_token",
                                "2",
                                "--model.expert_ffn_dim",
                                "16",
                                "--parallelism.data_parallel_shard_degree",
                                "2",
                                "--parallelism.context_parallel_degree",
                                "2",
                                "--parallelism.expert_parallel_degree",
                                "4",
                                "--training.local_batch_size",
                                "2",
                                "--graph.scan_layers"};

inline Path checkpoint_of(const Path& run, int64_t step) { return run / fmt::format("checkpoint/step-{:08}", step); }

inline std::string manifest_of(const Path& run, int64_t step) {
  return read_file(checkpoint_of(run, step) / "manifest.json");
}

// Loss and norm of each step, to the last bit.
inline std::vector<std::array<double, 2>> curve_of(const Path& run) {
  std::vector<std::array<double, 2>> curve;
  for (const StepMetrics& m : read_metrics(run / "metrics.jsonl").steps) curve.push_back({m.loss, m.grad_norm});
  return curve;
}

}  // namespace tethys
