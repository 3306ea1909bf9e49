#include "estimate/step_report.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/number.h"
#include "base/units.h"
#include "config/config.h"
#include "estimate/estimate_text.h"
#include "train/helpful_flags.h"

namespace tethys {
namespace {

double figure(const pjrt::NamedValues& values, const std::string& name) {
  const auto found = values.find(name);
  if (found == values.end()) return 0;
  if (const auto* number = std::get_if<float>(&found->second)) return *number;
  return 0;
}

// "1.23 T", "45.6 G": three digits and the power of a thousand.
std::string short_number(double number) {
  constexpr std::string_view kPowers[] = {"", " k", " M", " G", " T", " P", " E"};
  size_t power = 0;
  while (std::abs(number) >= 1000 && power + 1 < std::size(kPowers)) number /= 1000, ++power;
  return fmt::format("{:.4g}{}", number, kPowers[power]);
}

constexpr size_t kMostBuffers = 24;

struct MemoryLine {
  const char* name;
  int64_t bytes;
};

std::vector<MemoryLine> memory_lines(const StepMemory& m) {
  return {{"parameters", m.parameters},    {"optimizer moments", m.moments},
          {"other state", m.other_state},  {"batch", m.batch},
          {"padding of these", m.padding}, {"results not donated", m.results},
          {"activations", m.activations},  {"cast or gathered weights", m.weights},
          {"temporaries", m.temporaries},  {"code", m.code}};
}

// Without where to read on, which follows.
std::string first_sentences(const std::string& refusal) {
  std::string text = refusal.substr(0, refusal.find("See https://"));
  while (!text.empty() && (text.back() == ' ' || text.back() == '\n')) text.pop_back();
  return text;
}

std::string memory_text(const StepReport& r) {
  std::string text =
      r.memory.activations + r.memory.weights > 0
          ? "memory of a device, in GiB, where the compiler's plan takes most. Activations were made on the way to "
            "the\n"
            "loss and wait for the backward; temporaries are gradients, what one op leaves to the next, and gaps\n"
          : "memory of a device, in GiB; temporaries are activations and what one op leaves to the next\n";
  for (const auto& [name, bytes] : memory_lines(r.memory)) {
    if (bytes != 0) text += fmt::format("  {:<26}{:>10.3f}\n", name, gib(bytes));
  }
  const double free = r.usable_hbm - static_cast<double>(r.memory.total());
  text += fmt::format("  {:<26}{:>10.3f} of {:.2f} that a program may take: {}\n", "together", gib(r.memory.total()),
                      gib(r.usable_hbm),
                      r.fits     ? fmt::format("fits, {:.2f} are free", gib(free))
                      : free < 0 ? fmt::format("does not fit, {:.2f} too many", gib(-free))
                                 : "does not fit");
  if (!r.refusal.empty()) text += fmt::format("  the compiler: {}\n", first_sentences(r.refusal));
  return text;
}

std::string buffers_text(const StepReport& r) {
  std::string text = "largest buffers there\n";
  for (size_t i = 0; i < r.buffers.size() && i < kMostBuffers; ++i) {
    const PeakBuffer& b = r.buffers[i];
    text +=
        fmt::format("  {:>3} × {:>10.2f} MiB  {:<11} {:<26} {:<28} {}\n", b.count, static_cast<double>(b.bytes) / kMiB,
                    b.use, b.type, b.module, b.name.empty() ? "" : fmt::format("{} ({})", b.op, b.name));
  }
  return text;
}

std::string flags_text(const StepReport& r) {
  if (r.fits) return "";
  std::string text = "what would make it smaller\n";
  for (const std::string& flag : r.flags) text += fmt::format("  {}\n", flag);
  return text;
}

std::string flops_text(const StepReport& r) {
  std::string text = "FLOPs of a device's share of a step\n";
  text += fmt::format("  {:<22}{:>10}\n", "by our formula", short_number(r.formula_flops));
  if (r.estimate) {
    text += fmt::format("  {:<22}{:>10} in matrix products, those computed again too\n", "by XLA's program",
                        short_number(r.estimate->flops));
  }
  if (r.xla_flops > 0) {
    text +=
        fmt::format("  {:<22}{:>10} with the body of each loop once\n", "by XLA's analysis", short_number(r.xla_flops));
  }
  return text;
}

nlohmann::ordered_json json_of(const std::vector<PeakBuffer>& buffers) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (size_t i = 0; i < buffers.size() && i < kMostBuffers; ++i) {
    const PeakBuffer& b = buffers[i];
    list.push_back({{"for", b.use},
                    {"count", b.count},
                    {"bytes", b.bytes},
                    {"type", b.type},
                    {"module", b.module},
                    {"op", b.op},
                    {"name", b.name}});
  }
  return list;
}

nlohmann::ordered_json json_of(const StepReport& r) {
  nlohmann::ordered_json memory;
  for (const auto& [name, bytes] : memory_lines(r.memory)) {
    std::string key = name;
    for (char& c : key) c = c == ' ' ? '_' : c;
    memory[key] = bytes;
  }
  memory["together"] = r.memory.total();
  memory["usable"] = std::llround(r.usable_hbm);
  nlohmann::ordered_json json = {{"recipe", r.recipe},
                                 {"topology", r.topology},
                                 {"mesh", r.mesh},
                                 {"devices", r.devices},
                                 {"chips", r.chips},
                                 {"tokens_per_step", r.tokens},
                                 {"fits", r.fits},
                                 {"compiler_refusal", r.refusal},
                                 {"helpful_flags", r.flags},
                                 {"memory_bytes_per_device", memory},
                                 {"largest_buffers", json_of(r.buffers)},
                                 {"flops_per_device_formula", r.formula_flops},
                                 {"flops_per_device_xla", r.xla_flops},
                                 {"program_bytes", r.program_bytes},
                                 {"lowering_seconds", r.lowering_seconds},
                                 {"compile_seconds", r.compile_seconds}};
  if (r.estimate) json["estimate"] = estimate_json(r);
  return json;
}

}  // namespace

double StepReport::tokens_per_second_and_chip() const {
  return estimate ? static_cast<double>(tokens) / estimate->seconds() / static_cast<double>(chips) : 0;
}

double StepReport::formula_mfu() const { return estimate ? formula_flops / estimate->seconds() / peak_flops : 0; }

double StepReport::xla_mfu() const { return estimate ? estimate->flops / estimate->seconds() / peak_flops : 0; }

StepReport report_of(const std::string& recipe, const Config& config, CompiledStep& step) {
  StepReport r;
  r.recipe = recipe;
  r.topology = to_string(step.slice);
  r.mesh = to_string(step.setup.mesh);
  r.devices = step.slice.devices();
  r.tokens = step.setup.tokens_per_step();
  r.fits = step.fits();
  r.memory = step.memory;
  r.buffers = step.buffers;
  r.usable_hbm = step.slice.kind->usable_hbm;
  r.refusal = step.refusal;
  if (!r.fits) r.flags = helpful_flags(config, step.setup);
  const FlopsModel flops = flops_model_of(config, *step.setup.model);
  r.formula_flops =
      flops_per_token(flops, step.setup.shape.seq_len) * static_cast<double>(r.tokens) / static_cast<double>(r.devices);
  r.chips = step.slice.chips * step.slice.slices;
  r.peak_flops = step.slice.kind->peak_flops;
  r.hbm_rate = step.slice.kind->hbm_rate;
  if (step.executable) {
    r.xla_flops = figure(step.executable->cost_analysis(), "flops");
    const pjrt::OptimizedProgram program = step.executable->optimized_program();
    r.estimate = estimate_step(hlo::read_module(program.code), step.setup.mesh, step.slice);
  }
  r.program_bytes = step.program_bytes;
  r.lowering_seconds = step.lowering_seconds;
  r.compile_seconds = step.compile_seconds;
  return r;
}

std::string report_text(const StepReport& r) {
  return fmt::format("{} for {}: {} ({}), {} tokens a step\n", r.recipe, r.topology, counted(r.devices, "device"),
                     r.mesh, with_commas(r.tokens)) +
         memory_text(r) + buffers_text(r) + flags_text(r) + flops_text(r) + (r.estimate ? estimate_text(r) : "") +
         fmt::format("program: {} bytes, recorded and lowered in {:.2f} s, compiled in {:.1f} s\n",
                     with_commas(static_cast<int64_t>(r.program_bytes)), r.lowering_seconds, r.compile_seconds);
}

std::string report_table(const std::vector<StepReport>& reports) {
  std::string text =
      fmt::format("{:<22} {:<16} {:>7} {:>5} {:>8} {:>8} {:>8} {:>8} {:>9} {:>9} {:>8} {:>8}\n", "recipe", "topology",
                  "devices", "fits", "GiB", "of", "state", "temp", "est. ms", "est. tok/s", "est. MFU", "compiled");
  for (const StepReport& r : reports) {
    const StepMemory& m = r.memory;
    text += fmt::format("{:<22} {:<16} {:>7} {:>5} {:>8.2f} {:>8.2f} {:>8.2f} {:>8.2f}", r.recipe, r.topology,
                        r.devices, r.fits ? "yes" : "no", gib(m.total()), gib(r.usable_hbm),
                        gib(m.parameters + m.moments + m.other_state), gib(m.activations + m.weights + m.temporaries));
    text += r.estimate ? fmt::format(" {:>9.1f} {:>10.1f} {:>6.1f} %", 1e3 * r.estimate->seconds(),
                                     r.tokens_per_second_and_chip(), 100 * r.formula_mfu())
                       : fmt::format(" {:>9} {:>10} {:>8}", "-", "-", "-");
    text += fmt::format(" {:>6.0f} s\n", r.compile_seconds);
  }
  return text +
         "est.: estimates, of which nothing was measured; tokens a second and chip; MFU by our formula's FLOPs\n";
}

std::string report_json(const std::vector<StepReport>& reports) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const StepReport& report : reports) list.push_back(json_of(report));
  return list.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace tethys
