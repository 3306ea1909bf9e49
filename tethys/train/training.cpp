#include "train/training.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <ctime>

#include "base/clock.h"
#include "base/number.h"
#include "base/units.h"
#include "config/config.h"
#include "config/describe.h"
#include "data/loader/loader.h"
#include "pjrt/error.h"
#include "train/console.h"
#include "train/corpus.h"
#include "train/first_state.h"
#include "train/fit.h"
#include "train/meter.h"
#include "train/metrics_writer.h"
#include "train/prepared.h"
#include "train/profile.h"
#include "train/replay.h"
#include "train/resume.h"
#include "train/run_folder.h"
#include "train/state_saver.h"
#include "train/text_sampler.h"
#include "train/validation.h"
#include "train/without_steps.h"

namespace tethys {
namespace {

constexpr std::chrono::minutes kStepDeadline(30);
constexpr std::chrono::seconds kReplayLines(10);

class Trainer {
 public:
  Trainer(const Config& config, const TrainingOptions& options, const TrainingCallbacks& callbacks)
      : config_(config),
        options_(options),
        callbacks_(callbacks),
        steps_(config.get_int("training.steps")),
        seed_(static_cast<uint64_t>(config.get_int("debug.seed"))),
        folder_(options.output, options.resume),
        checkpoints_(folder_.checkpoints(config.get_string("checkpoint.folder"))),
        log_file_(folder_.log()),
        watchdog_(kStepDeadline, [&callbacks](const Watchdog::Stuck& stuck) {
          if (callbacks.stuck) callbacks.stuck(stuck);
        }) {}

  TrainingResult run() {
    if (tracer()) {
      tracer()->name_thread("training");
      tracer()->record(true);
    }
    // First, while all is as the last run left it.
    for (const std::string& change : changes_since_last_run(folder_, config_)) {
      line("changed since the last run: " + change);
    }
    open_data();
    if (result_.stopped_by != 0) {
      line(fmt::format("stopped by signal {} before the first step", result_.stopped_by));
      return result_;
    }
    may_end(true);
    prepare();
    check_state_fits(setup(), memory_of_devices(config_), config_);
    begin();
    try {
      train();
    } catch (const DiskError& error) {
      const std::optional<int64_t> newest = checkpoints_.newest();
      throw DiskError(fmt::format(
          "{}; {}", error.what(),
          newest ? fmt::format("the newest complete checkpoint is of step {}", *newest) : "nothing is saved yet"));
    }
    return result_;
  }

 private:
  // A step that was handed to the device and not looked at yet. Its batch is kept for a replay.
  struct Pending {
    int64_t step = 0;  // from 0
    StepOutcome outcome;
    Batch batch;
    double data_seconds = 0;
  };

  void log(const std::string& text) {
    log_file_.append(fmt::format("{:%Y-%m-%d %H:%M:%S} {}", fmt::localtime(std::time(nullptr)), text));
  }
  void line(const std::string& text) {
    if (callbacks_.line) callbacks_.line(text);
    log(text);
  }
  bool asked_to_stop() {
    if (callbacks_.stop) result_.stopped_by = callbacks_.stop();
    return result_.stopped_by != 0;
  }
  void may_end(bool at_any_moment) const {
    if (callbacks_.may_end) callbacks_.may_end(at_any_moment);
  }

  const TrainingSetup& setup() const { return prepared_.setup; }
  Executor& executor() const { return *prepared_.executor; }
  const std::shared_ptr<Tracer>& tracer() const { return options_.machine.tracer; }
  double learning_rate(int64_t step) const { return setup().learning_rate * lr_factor(setup().schedule, step); }
  bool is_due(int64_t done, const char* every) const { return done % config_.get_int(every) == 0; }

  DeferredOptions deferred();
  void open_data();
  void prepare();
  void begin();
  void write_begin();
  void train();
  Batch make_batch(const BatchMaker& maker, int64_t step) const;
  void begin_profile();
  void traced_step(int64_t step, Loader& loader);
  void handle(int64_t step, Loader& loader);
  void settle();
  void report(int64_t done, double loss, double norm);
  [[noreturn]] void not_finite(const Pending& pending, double loss, double norm);
  void check_each_op(const StepFeed& feed);
  [[noreturn]] void fail_step(int64_t step, std::string text);
  FaultFinder& fault_finder();
  std::function<void(const std::string&)> replay_progress();
  void after_step(int64_t done);
  void save(int64_t done);
  void wait_for_save();
  void say_saved(const std::optional<Path>& path);
  std::string fingerprint() const;

  const Config& config_;
  const TrainingOptions& options_;
  const TrainingCallbacks& callbacks_;
  const int64_t steps_;
  const uint64_t seed_;
  RunFolder folder_;
  CheckpointStore checkpoints_;
  LineFile log_file_;
  Watchdog watchdog_;
  TrainingData data_;
  Prepared prepared_;
  std::unique_ptr<Validator> validator_;
  std::unique_ptr<TextSampler> sampler_;
  std::optional<MetricsWriter> metrics_;
  std::optional<Meter> meter_;
  std::optional<StepRunner> runner_;
  TrainingState state_;
  std::optional<Pending> pending_;
  std::optional<Profile> profile_;
  std::optional<FaultFinder> fault_finder_;
  TrainingResult result_;
  std::optional<StateSaver> saver_;  // goes first: it uses the others
};

void Trainer::open_data() {
  const Span span(tracer(), "open the data");
  if (config_.get_int("metrics.sample_freq") > 0) TextSampler::check(config_);
  // Thrown out of the indexing, which leaves nothing behind then.
  struct Stopped {};
  const auto indexing = [this](std::string_view stage, int64_t done, int64_t total) {
    tethys::report(callbacks_.indexing, stage, done, total);
    if (asked_to_stop()) throw Stopped();
  };
  try {
    data_ = open_training_data(config_, options_.places, indexing);
  } catch (const Stopped&) {
    return;
  }
  if (asked_to_stop()) return;
  // Too little text is found now, before anything is compiled.
  const BatchSettings row{.seq_len = config_.get_int("training.seq_len")};
  const BatchMaker training(training_streams(data_), row);
  if (config_.get_bool("validation.enable")) const BatchMaker validation(data_.validation, row);
  line(fmt::format("data: {} tokens in {}, {} held out", with_commas(training_tokens(data_)),
                   counted(training_documents(data_), "document"), with_commas(data_.validation.size())));
  if (data_.skipped_lines > 0) line(fmt::format("data: {} skipped", counted(data_.skipped_lines, "bad line")));
}

void Trainer::prepare() {
  prepared_ = tethys::prepare(config_, options_.machine);
  const std::string platform = prepared_.machine.client->platform_name();
  for (const std::string& text : console_lines(config_, setup(), platform)) line(text);
  if (config_.get_bool("validation.enable")) {
    validator_ =
        std::make_unique<Validator>(executor(), setup(), data_.validation, config_.get_int("validation.steps"));
  }
  if (config_.get_int("metrics.sample_freq") > 0) {
    sampler_ = std::make_unique<TextSampler>(config_, prepared_.machine, options_.machine);
  }
  const bool shared = config_.get_string("device.platform") == "cpu";  // virtual devices share the machine
  meter_.emplace(setup(), flops_model_of(config_, *setup().model),
                 peak_of(prepared_.machine, options_.machine.cache_folder, shared),
                 [this] { return executor().time().device(); });
}

// What a checkpoint's place in the data depends on.
std::string Trainer::fingerprint() const {
  return fmt::format("data {}, rows of {} tokens, {} rows a step", data_.fingerprint, setup().shape.seq_len,
                     setup().rows_per_step());
}

// While the compiler works on the step, the state is made.
void Trainer::begin() {
  const SavedRun run{config_, checkpoints_, executor(), setup(), seed_, fingerprint()};
  FirstState first = first_state(run, options_.resume, [this] { runner_.emplace(executor(), setup(), deferred()); });
  if (!first.origin.empty()) line(first.origin);
  state_ = std::move(first.state);
  result_.step = first.step;
  saver_.emplace(run, first.step);
}

// What was there stays as it is until all that can be refused is known.
void Trainer::write_begin() {
  folder_.keep();
  cut_back_metrics(folder_.metrics(), result_.step);
  write_file(folder_.config(), config_toml(config_));
  metrics_.emplace(folder_.metrics(),
                   MetricsWriter::Options{.tensorboard = config_.get_bool("metrics.enable_tensorboard"),
                                          .first_step = result_.step + 1});
}

DeferredOptions Trainer::deferred() {
  DeferredOptions options{.most_ops = config_.get_int("graph.flush_ops")};
  if (config_.get_bool("debug.flushes")) options.flushed = [this](const Flush& flush) { line(to_string(flush)); };
  return options;
}

void Trainer::train() {
  const BatchMaker maker(training_streams(data_), {.seq_len = setup().shape.seq_len,
                                                   .accumulation = setup().shape.microbatches,
                                                   .batch = setup().shape.rows,
                                                   .order = data_.order,
                                                   .seed = seed_});
  if (result_.step == steps_) {
    return line(fmt::format(
        "all {0} steps are done: nothing is left to do; --training.steps with a number above {0} goes on", steps_));
  }
  runner_->wait();
  if (const pjrt::MemoryStats* memory = runner_->memory()) {
    check_step_fits(*memory, setup(), memory_of_devices(config_), config_);
  }
  may_end(false);
  write_begin();
  for (const std::string& note : runner_->notes()) log("not sharded: " + note);
  for (const std::string& warning : setup().warnings) line("warning: " + warning);
  const ProgramCache::Counters programs = executor().counters();
  line(fmt::format("programs: {} compiled in {:.1f} s, {} from the cache{}", programs.compiles,
                   programs.compile_seconds, programs.disk_hits,
                   programs.saved_loads > 0 ? ", the step from " + executor().saved()->origin : ""));
  begin_profile();
  Loader loader([this, &maker](int64_t step) { return make_batch(maker, step); }, result_.step);
  meter_->go_on();
  for (int64_t step = result_.step; step < steps_ && !asked_to_stop(); ++step) traced_step(step, loader);
  settle();
  meter_->end();
  if (result_.stopped_by != 0 && config_.get_bool("checkpoint.enable")) save(result_.step);
  wait_for_save();
  if (profile_) profile_->finish();
  if (result_.stopped_by != 0)
    line(fmt::format("stopped by signal {} after step {}", result_.stopped_by, result_.step));
  const std::string summary = meter_->summary();
  if (!summary.empty()) line(summary);
}

// On the loader's thread.
Batch Trainer::make_batch(const BatchMaker& maker, int64_t step) const {
  if (tracer()) tracer()->name_thread("data loader");
  const Span span(tracer(), "make a batch", {}, {"step", step + 1});
  return maker.make(step);
}

void Trainer::begin_profile() {
  if (!tracer()) return;
  profile_.emplace(config_,
                   ProfileOptions{folder_.profile(), tracer(), prepared_.machine.client->plugin(),
                                  [this](const std::string& text) { line(text); }},
                   result_.step);
}

void Trainer::traced_step(int64_t step, Loader& loader) {
  if (!profile_) return handle(step, loader);
  const std::string number = std::to_string(step + 1);
  profile_->begin_step(step + 1);
  {
    const Span span(tracer(), "step", number, {"step", step + 1});
    handle(step, loader);
    if (profile_->ends_with(step + 1)) settle();  // what the device still does of it belongs there
  }
  profile_->end_step(step + 1);
}

void Trainer::handle(int64_t step, Loader& loader) {
  say_saved(saver_->ended());
  const Clock::time_point begin = Clock::now();
  Pending next{step, {}, {}, 0};
  {
    const Span span(tracer(), "wait for a batch");
    next.batch = loader.next();
  }
  next.data_seconds = seconds_since(begin);
  const StepFeed feed{step, learning_rate(step), next.batch};
  if (config_.get_bool("debug.detect_nan")) check_each_op(feed);
  {
    const Watchdog::Step guard = watchdog_.step(step + 1, "training step", runner_->waits());
    next.outcome = runner_->run(state_, feed);
  }
  settle();
  pending_ = std::move(next);
  after_step(step + 1);
}

// Waits for the pending step and looks at it.
void Trainer::settle() {
  if (!pending_) return;
  const Pending pending = std::move(*pending_);
  pending_.reset();
  const auto [loss, norm] = [&] {
    const Watchdog::Step guard = watchdog_.step(pending.step + 1, "training step", runner_->waits());
    return std::pair(to_host(pending.outcome.loss).to_doubles()[0], to_host(pending.outcome.norm).to_doubles()[0]);
  }();
  const Clock::time_point done = pending.outcome.done->get(Clock::now());
  meter_->add(done, pending.data_seconds);
  if (tracer()) tracer()->moment(fmt::format("step {} is done", pending.step + 1), done);
  if (!std::isfinite(loss) || !std::isfinite(norm)) not_finite(pending, loss, norm);
  result_.step = pending.step + 1;
  report(result_.step, loss, norm);
}

void Trainer::report(int64_t done, double loss, double norm) {
  const Span span(tracer(), "report metrics", {}, {"step", done});
  if (done == 1 || done == steps_ || is_due(done, "metrics.log_freq")) {
    StepMetrics metrics;
    metrics.step = done;
    metrics.loss = loss;
    metrics.grad_norm = norm;
    metrics.lr = learning_rate(done - 1);
    metrics.tokens = done * setup().tokens_per_step();
    metrics.memory_gib = gib(executor().ledger().peak()) / static_cast<double>(setup().degrees.devices());
    meter_->fill(metrics);
    metrics_->add(metrics);
    line(console_line(metrics));
  }
  if (callbacks_.progress) callbacks_.progress(done, steps_, meter_->seconds_per_step());
}

void Trainer::not_finite(const Pending& pending, double loss, double norm) {
  std::string text =
      fmt::format("step {}: loss {} and gradient norm {} are not both finite", pending.step + 1, loss, norm);
  if (config_.get_bool("debug.replay")) {
    line(text + "; replaying the step op by op");
    const StepFeed feed{pending.step, learning_rate(pending.step), pending.batch};
    const auto fault = fault_finder().find(state_, feed, replay_progress());
    text += fault ? "; first fault: " + *fault
                  : std::string("; replayed op by op the step is finite: the fault did not reproduce");
  }
  fail_step(pending.step, std::move(text));
}

FaultFinder& Trainer::fault_finder() {
  if (!fault_finder_) fault_finder_.emplace(prepared_.machine, executor().capabilities(), setup());
  return *fault_finder_;
}

// Before the step takes the state over. What it would compute is known then, op by op, in whatever mode it runs.
void Trainer::check_each_op(const StepFeed& feed) {
  settle();
  if (const auto fault = fault_finder().find(state_, feed, replay_progress())) {
    fail_step(feed.step, fmt::format("step {}: {}", feed.step + 1, *fault));
  }
}

// The state is that after `step` steps.
void Trainer::fail_step(int64_t step, std::string text) {
  try {
    if (config_.get_bool("checkpoint.enable") && step > 0) save(step);
    wait_for_save();
  } catch (const Error& error) {  // of the two, the fault of the step is what must be known
    text += fmt::format("; saving failed: {}", error.what());
  }
  text += fmt::format(". The step changed nothing{}",
                      saver_->saved() > 0 ? fmt::format("; the newest checkpoint is of step {}", saver_->saved()) : "");
  try {
    log(text);
  } catch (const Error&) {  // it is thrown all the same
  }
  throw NotFiniteError(text);
}

// No deadline guards a replay, which takes its time: a line now and then says how far it is.
std::function<void(const std::string&)> Trainer::replay_progress() {
  return [this, ops = int64_t{0}, told = Clock::now()](const std::string& where) mutable {
    ++ops;
    if (Clock::now() - told < kReplayLines) return;
    told = Clock::now();
    line(fmt::format("replay: {} finite, the last of them {}", counted(ops, "op"), where));
  };
}

// What a step is followed by, when its time has come: then the device is idle for a while.
void Trainer::after_step(int64_t done) {
  const bool last = done == steps_;
  const bool validates = validator_ != nullptr && (last || is_due(done, "validation.freq"));
  const bool samples = sampler_ != nullptr && (last || is_due(done, "metrics.sample_freq"));
  const bool saves = config_.get_bool("checkpoint.enable") && (last || is_due(done, "checkpoint.interval"));
  if (!validates && !samples && !saves) return;
  settle();
  meter_->pause();
  if (validates) {
    const Watchdog::Step guard = watchdog_.step(done, "validation");
    const Span span(tracer(), "validation", {}, {"step", done});
    const ValidationMetrics metrics = validator_->run(state_.parameters, done);
    metrics_->add(metrics);
    line(console_line(metrics));
  }
  if (samples) {
    const Watchdog::Step guard = watchdog_.step(done, "sample");
    const Span span(tracer(), "sample", {}, {"step", done});
    const SampleMetrics metrics = sampler_->run(state_, setup(), done);
    metrics_->add(metrics);
    line(console_line(metrics));
  }
  if (saves) save(done);
  meter_->go_on();
}

void Trainer::save(int64_t done) {
  if (saver_->began(done)) return;
  const Span span(tracer(), "save", {}, {"step", done});
  const Clock::time_point begin = Clock::now();
  wait_for_save();
  const Watchdog::Step guard = watchdog_.step(done, "save");
  saver_->save(state_, done);
  if (!saver_->in_background()) wait_for_save();
  log(fmt::format("the steps waited {:.3f} s for the save of step {}", seconds_since(begin), done));
}

void Trainer::wait_for_save() {
  const Watchdog::Step guard = watchdog_.step(saver_->saving(), "save");
  const Span span(tracer(), "wait for the checkpoint");
  say_saved(saver_->wait());
}

void Trainer::say_saved(const std::optional<Path>& path) {
  if (path) line(fmt::format("saved {}", path->string()));
}

}  // namespace

TrainingResult run_training(const Config& config, const TrainingOptions& options, const TrainingCallbacks& callbacks) {
  virtual_devices(config);  // degrees that do not fit are found before anything is made
  try {
    if (options.dry_run) {
      dry_run(config, options, callbacks);
      return {};
    }
    if (config.get_bool("checkpoint.create_seed_checkpoint")) {
      create_seed_checkpoint(config, options, callbacks);
      return {};
    }
    return Trainer(config, options, callbacks).run();
  } catch (const pjrt::PjrtError& error) {
    blame_compile_options(config, error);
    throw;
  }
}

}  // namespace tethys
