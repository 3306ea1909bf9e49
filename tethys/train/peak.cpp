#include "train/peak.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "base/clock.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/number.h"
#include "pjrt/executable.h"
#include "runtime/program_cache.h"
#include "train/flops.h"

namespace tethys {
namespace {

constexpr int64_t kSize = 1024;
constexpr int kRuns = 5, kMostRuns = 50;

double measure(const pjrt::Client& client) {
  const std::string type = fmt::format("tensor<{0}x{0}xf32>", kSize);
  const std::string text = fmt::format(
      "module @peak {{\n"
      "  func.func public @main(%a: {0}, %b: {0}) -> {0} {{\n"
      "    %c = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : ({0}, {0}) -> {0}\n"
      "    return %c : {0}\n"
      "  }}\n"
      "}}\n",
      type);
  const pjrt::LoadedExecutable matmul = client.compile(text);
  const HostTensor zeros(TensorType{DType::F32, {kSize, kSize}});
  const pjrt::Buffer a = pjrt::Buffer::from_host(client, zeros), b = pjrt::Buffer::from_host(client, zeros);
  double best = 1e30;
  int since = 0;  // runs since it became better by more than noise
  for (int run = 0; since < kRuns && run < kMostRuns; ++run) {
    std::vector<std::vector<pjrt::Argument>> arguments(1);
    arguments[0].emplace_back(a);
    arguments[0].emplace_back(b);
    const Clock::time_point begin = Clock::now();
    const auto results = matmul.execute(arguments);
    results[0][0].ready().await();
    const double seconds = seconds_since(begin);
    since = seconds < 0.98 * best ? 0 : since + 1;
    best = std::min(best, seconds);
  }
  return 2.0 * kSize * kSize * kSize / best;
}

void keep_peak(const Path& file, double peak) {
  try {
    make_directories(file.parent_path());
    write_file(file, fmt::format("{:.6g}\n", peak));
  } catch (const Error&) {  // a figure of this run alone
  }
}

}  // namespace

double kept_peak(const Path& file) {
  try {
    const std::string text = read_file(file);
    const double peak = parse_number<double>(std::string_view(text).substr(0, text.find('\n'))).value_or(0);
    return std::isfinite(peak) ? peak : 0;
  } catch (const Error&) {
    return 0;
  }
}

Peak peak_of(const Machine& machine, const Path& cache_folder, bool shared) {
  const pjrt::Client& client = *machine.client;
  const std::string& kind = client.addressable_devices().at(0).kind;
  if (const auto known = peak_flops(kind)) return {*known, kind + ", bf16"};
  const std::string here =
      fmt::format("{} {} {} threads", client.plugin()->version(), cpu_identity(), std::thread::hardware_concurrency());
  Peak peak{0, "a large float32 matmul, measured here", cache_folder / fmt::format("peak-{}.txt", hash_hex(here)),
            shared ? static_cast<double>(machine.devices) : 1};
  peak.flops = kept_peak(peak.kept) / peak.devices;
  raise(peak, measure(client) / peak.devices);
  return peak;
}

void raise(Peak& peak, double reached) {
  if (!peak.is_measured() || !(reached > peak.flops)) return;
  peak.flops = reached;
  keep_peak(peak.kept, reached * peak.devices);
}

}  // namespace tethys
