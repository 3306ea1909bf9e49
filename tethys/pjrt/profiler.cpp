#include "pjrt/profiler.h"

#include <utility>

#include "pjrt/error.h"
#include "pjrt/profiler_c.h"

namespace tethys::pjrt {
namespace {

// ProfileOptions with version (field 5) = 1: the plugin's defaults. A message without it asks for nothing.
constexpr std::string_view kDefaultOptions = "\x28\x01";

}  // namespace

const ProfilerTable* Profiler::table_of(const Plugin& plugin) {
  const PJRT_Extension_Base* base = plugin.find_extension(PJRT_Extension_Type_Profiler);
  if (base == nullptr || base->struct_size < sizeof(ProfilerExtension)) return nullptr;
  const ProfilerTable* table = reinterpret_cast<const ProfilerExtension*>(base)->table;
  return table == nullptr || table->struct_size < sizeof(ProfilerTable) ? nullptr : table;
}

Profiler::Profiler(const ProfilerTable* table, std::string plugin) : table_(table), plugin_(std::move(plugin)) {
  ProfilerCreateArgs args{sizeof(args), kDefaultOptions.data(), kDefaultOptions.size(), nullptr};
  check("PLUGIN_Profiler_Create", table_->create(&args));
  handle_ = args.profiler;
  try {
    ProfilerArgs start{sizeof(start), handle_};
    check("PLUGIN_Profiler_Start", table_->start(&start));
    running_ = true;
  } catch (...) {
    end();
    throw;
  }
}

Profiler::~Profiler() { end(); }

// A failure at the end changes nothing.
void Profiler::end() {
  const auto ignore = [this](ProfilerFailure* failure) {
    try {
      check("", failure);
    } catch (const PjrtError&) {
    }
  };
  ProfilerArgs args{sizeof(args), handle_};
  if (std::exchange(running_, false)) ignore(table_->stop(&args));
  if (std::exchange(handle_, nullptr) != nullptr) ignore(table_->destroy(&args));
}

std::string Profiler::stop() {
  running_ = false;
  ProfilerArgs stop{sizeof(stop), handle_};
  check("PLUGIN_Profiler_Stop", table_->stop(&stop));
  ProfilerCollectArgs args{sizeof(args), handle_, nullptr, 0};
  check("PLUGIN_Profiler_CollectData", table_->collect(&args));
  if (args.buffer != nullptr) return {reinterpret_cast<const char*>(args.buffer), args.buffer_size};
  std::string data(args.buffer_size, '\0');
  if (data.empty()) return data;
  args.buffer = reinterpret_cast<uint8_t*>(data.data());
  check("PLUGIN_Profiler_CollectData", table_->collect(&args));
  return data;
}

void Profiler::check(const char* function, ProfilerFailure* failure) const {
  if (failure == nullptr) return;
  ProfilerTextArgs text{sizeof(text), nullptr, failure, nullptr, 0};
  table_->text(&text);
  ProfilerCodeArgs code{kProfilerCodeArgsSize, nullptr, failure, 0};
  table_->code(&code);
  const PjrtError error(static_cast<ErrorCode>(code.code), std::string(text.text, text.text_size), function, plugin_);
  ProfilerDropFailureArgs drop{sizeof(drop), nullptr, failure};
  table_->drop_failure(&drop);
  throw error;
}

}  // namespace tethys::pjrt
