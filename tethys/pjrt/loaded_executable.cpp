#include <utility>

#include "pjrt/call.h"
#include "pjrt/client_state.h"
#include "pjrt/executable.h"

namespace tethys::pjrt {
namespace {

Handle<PJRT_Executable> executable_of(const std::shared_ptr<const Plugin>& plugin, PJRT_LoadedExecutable* loaded) {
  const auto args =
      call(plugin, TETHYS_PJRT(PJRT_LoadedExecutable_GetExecutable), [&](auto& a) { a.loaded_executable = loaded; });
  return adopt(plugin, args.executable);
}

void check_arguments(std::span<std::vector<Argument>> arguments, size_t devices) {
  require(arguments.size() == devices, "arguments for {} devices, of a program that runs on {}", arguments.size(),
          devices);
  for (const std::vector<Argument>& list : arguments) {
    require(list.size() == arguments[0].size(), "{} arguments for one device and {} for another", arguments[0].size(),
            list.size());
    for (size_t i = 0; i < list.size(); ++i) {
      require(list[i].donated() == arguments[0][i].donated(), "argument {} is donated on some devices only", i);
      require(!list[i].buffer().empty(), "argument {} is an empty buffer", i);
    }
  }
}

// What the plugin may not write to, even where the program allows it.
std::vector<int64_t> borrowed_positions(const std::vector<Argument>& list) {
  std::vector<int64_t> out;
  for (size_t i = 0; i < list.size(); ++i) {
    if (!list[i].donated()) out.push_back(static_cast<int64_t>(i));
  }
  return out;
}

}  // namespace

LoadedExecutable::LoadedExecutable(std::shared_ptr<const ClientState> client, Handle<PJRT_LoadedExecutable> handle)
    : client_(std::move(client)),
      handle_(std::move(handle)),
      executable_(client_->plugin, executable_of(client_->plugin, handle_.get())),
      num_outputs_(executable_.num_outputs()) {
  const auto args = call(client_->plugin, TETHYS_PJRT(PJRT_LoadedExecutable_AddressableDevices),
                         [&](auto& a) { a.executable = handle_.get(); });
  for (size_t i = 0; i < args.num_addressable_devices; ++i) {
    devices_.push_back(client_->ordinal_of(args.addressable_devices[i]));
  }
}

LoadedExecutable& LoadedExecutable::operator=(LoadedExecutable&& other) {
  // The old executable goes before the old client.
  executable_ = std::move(other.executable_);
  handle_ = std::move(other.handle_);
  client_ = std::move(other.client_);
  devices_ = std::move(other.devices_);
  num_outputs_ = other.num_outputs_;
  return *this;
}

Execution LoadedExecutable::launch(std::span<std::vector<Argument>> arguments) const {
  const size_t devices = devices_.size();
  check_arguments(arguments, devices);
  const std::vector<int64_t> borrowed = borrowed_positions(arguments[0]);

  std::vector<std::vector<PJRT_Buffer*>> inputs(devices);
  std::vector<PJRT_Buffer* const*> input_lists(devices);
  std::vector<std::vector<PJRT_Buffer*>> outputs(devices, std::vector<PJRT_Buffer*>(static_cast<size_t>(num_outputs_)));
  std::vector<PJRT_Buffer**> output_lists(devices);
  std::vector<PJRT_Event*> done(devices);
  for (size_t d = 0; d < devices; ++d) {
    for (const Argument& argument : arguments[d]) inputs[d].push_back(argument.buffer().get());
    input_lists[d] = inputs[d].data();
    output_lists[d] = outputs[d].data();
  }
  PJRT_ExecuteOptions options{};
  options.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE;
  options.non_donatable_input_indices = borrowed.data();
  options.num_non_donatable_input_indices = borrowed.size();
  call(client_->plugin, TETHYS_PJRT(PJRT_LoadedExecutable_Execute), [&](auto& a) {
    a.executable = handle_.get();
    a.options = &options;
    a.argument_lists = input_lists.data();
    a.num_devices = devices;
    a.num_args = arguments[0].size();
    a.output_lists = output_lists.data();
    a.device_complete_events = done.data();
  });

  Execution execution;
  execution.results.resize(devices);
  for (size_t d = 0; d < devices; ++d) {
    for (PJRT_Buffer* output : outputs[d]) {
      execution.results[d].emplace_back(client_, adopt(client_->plugin, output));
    }
    execution.done.emplace_back(adopt(client_->plugin, done[d]));
    for (Argument& argument : arguments[d]) {
      if (argument.donated()) argument.take();
    }
  }
  return execution;
}

std::vector<std::vector<Buffer>> LoadedExecutable::execute(std::span<std::vector<Argument>> arguments) const {
  Execution execution = launch(arguments);
  await_all(execution.done);
  return std::move(execution.results);
}

}  // namespace tethys::pjrt
