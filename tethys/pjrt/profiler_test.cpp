#include "pjrt/profiler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "pjrt/error.h"
#include "pjrt/profiler_c.h"

namespace tethys::pjrt {

struct ProfilerHandle {};
struct ProfilerFailure {};

namespace {

// A plugin's table that notes what it is called for.
struct Fake {
  std::vector<std::string> calls;
  std::string fails;  // the call that does
  std::string data = "what was recorded";
  bool lends = false;  // gives its own buffer
  int failures = 0;    // that are not freed
};
Fake fake;
ProfilerHandle handle;
ProfilerFailure failure;

ProfilerFailure* note(const char* call) {
  fake.calls.emplace_back(call);
  if (fake.fails != call) return nullptr;
  ++fake.failures;
  return &failure;
}

ProfilerFailure* collect(ProfilerCollectArgs* args) {
  if (args->buffer != nullptr) std::copy(fake.data.begin(), fake.data.end(), args->buffer);
  if (fake.lends) args->buffer = reinterpret_cast<uint8_t*>(fake.data.data());
  args->buffer_size = fake.data.size();
  return note("collect");
}

const ProfilerTable kTable = {
    sizeof(ProfilerTable),
    nullptr,
    [](ProfilerDropFailureArgs*) { --fake.failures; },
    [](ProfilerTextArgs* args) {
      args->text = "no device";
      args->text_size = 9;
    },
    [](ProfilerCodeArgs* args) -> ProfilerFailure* {
      args->code = 12;
      return nullptr;
    },
    [](ProfilerCreateArgs* args) {
      EXPECT_EQ(std::string(args->options, args->options_size), std::string("\x28\x01"));
      args->profiler = &handle;
      return note("create");
    },
    [](ProfilerArgs*) { return note("destroy"); },
    [](ProfilerArgs* args) {
      EXPECT_EQ(args->profiler, &handle);
      return note("start");
    },
    [](ProfilerArgs*) { return note("stop"); },
    collect,
};

using Calls = std::vector<std::string>;

TEST(PluginProfiler, GivesWhatThePluginRecordedFromItsBufferOrOurs) {
  for (bool lends : {false, true}) {
    fake = {};
    fake.lends = lends;
    {
      Profiler profiler(&kTable, "plugin.so");
      EXPECT_EQ(fake.calls, (Calls{"create", "start"}));
      EXPECT_EQ(profiler.stop(), "what was recorded");
    }
    Calls expected = {"create", "start", "stop", "collect", "destroy"};
    if (!lends) expected.insert(expected.begin() + 3, "collect");
    EXPECT_EQ(fake.calls, expected);
  }
}

TEST(PluginProfiler, ThatIsDroppedStops) {
  fake = {};
  { const Profiler profiler(&kTable, "plugin.so"); }
  EXPECT_EQ(fake.calls, (Calls{"create", "start", "stop", "destroy"}));
}

TEST(PluginProfiler, ThatCannotBeginSaysWhyAndIsFreed) {
  fake = {};
  fake.fails = "start";
  try {
    const Profiler profiler(&kTable, "plugin.so");
    FAIL() << "it began";
  } catch (const PjrtError& error) {
    EXPECT_STREQ(error.what(), "PLUGIN_Profiler_Start: UNIMPLEMENTED: no device (plugin plugin.so)");
  }
  EXPECT_EQ(fake.calls, (Calls{"create", "start", "destroy"}));
  EXPECT_EQ(fake.failures, 0);
}

}  // namespace
}  // namespace tethys::pjrt
