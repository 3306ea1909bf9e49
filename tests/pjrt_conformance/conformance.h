// The conformance suite of a PJRT plugin: what Tethys relies on, asked of the plugin given by --plugin. Tests share two
// clients, so that a plugin starts once: one device, and eight.
//
//   build/release/pjrt_conformance --plugin .deps/plugins/openxla_cpu.so --gtest_filter='*Donat*'
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pjrt/buffer.h"
#include "pjrt/client.h"
#include "pjrt/error.h"
#include "pjrt/executable.h"
#include "pjrt/plugin.h"

namespace tethys::pjrt::conformance {

inline constexpr int64_t kDevices = 8;

const std::shared_ptr<const Plugin>& plugin();
// Created at first use, dropped before the count of live handles at the end.
Client& one_device();
Client& eight_devices();

// A StableHLO module in generic form.
struct Program {
  std::vector<std::string> inputs;  // types; the arguments are %arg0, %arg1, …
  std::string body;
  std::vector<std::string> results;  // values
  std::vector<std::string> result_types;
  std::vector<std::string> input_attributes = {};  // of each input, such as "tf.aliasing_output = 0 : i32"
  bool manual = false;                             // each partition's own view: sharding {manual} everywhere
};
std::string to_text(const Program& program);

// Text of a loop that runs `body` `trips` times on `value`, of MLIR type `type`; the body reads %v and defines %w.
// The result is %loop#1.
std::string loop(const std::string& value, const std::string& type, int trips, const std::string& body);

// Runs on one device with borrowed arguments, and reads the results.
std::vector<HostTensor> run(const Client& client, const LoadedExecutable& executable,
                            const std::vector<HostTensor>& arguments);
// The same on all of its devices, arguments and results by device.
std::vector<std::vector<HostTensor>> run_all(const Client& client, const LoadedExecutable& executable,
                                             const std::vector<std::vector<HostTensor>>& arguments);

// The PjrtError that the action throws; a test failure and an Unknown error without text if it throws none.
PjrtError error_of(const std::function<void()>& action);

}  // namespace tethys::pjrt::conformance
