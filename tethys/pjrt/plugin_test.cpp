#include "pjrt/plugin.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "pjrt/error.h"
#include "pjrt/live_handles.h"

namespace tethys::pjrt {
namespace {

std::string user_error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no UserError";
}

TEST(PluginLoad, AMissingFileIsNamedWithTheFix) {
  const std::string text = user_error_of([] { Plugin::load("/nowhere/plugin.so"); });
  EXPECT_NE(text.find("/nowhere/plugin.so"), std::string::npos) << text;
  EXPECT_NE(text.find("make setup"), std::string::npos) << text;
  EXPECT_NE(text.find("--device.plugin"), std::string::npos) << text;
}

TEST(PluginLoad, AFileThatIsNoLibraryIsRefused) {
  const std::string path = testing::TempDir() + "/no_library.so";
  std::ofstream(path) << "plain text";
  const std::string text = user_error_of([&] { Plugin::load(path); });
  EXPECT_NE(text.find("no loadable shared library"), std::string::npos) << text;
  std::filesystem::remove(path);
  EXPECT_NE(user_error_of([] { Plugin::load("/tmp"); }).find("no loadable shared library"), std::string::npos);
}

TEST(PluginLoad, APipeIsRefusedAndNotWaitedFor) {
  const std::string path = testing::TempDir() + "/pipe.so";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const std::string text = user_error_of([&] { Plugin::load(path); });
  EXPECT_NE(text.find("pipe.so is a device, pipe or socket"), std::string::npos) << text;
  std::filesystem::remove(path);
}

TEST(PluginLoad, ALibraryThatIsNoPluginIsRefused) {
  std::string libm;
  for (const char* path : {"/lib/x86_64-linux-gnu/libm.so.6", "/lib/aarch64-linux-gnu/libm.so.6", "/lib64/libm.so.6"}) {
    if (std::filesystem::exists(path)) libm = path;
  }
  if (libm.empty()) GTEST_SKIP() << "no libm in the usual places";
  const std::string text = user_error_of([&] { Plugin::load(libm); });
  EXPECT_NE(text.find("GetPjrtApi"), std::string::npos) << text;
}

TEST(PjrtErrors, CarryCodeTextFunctionAndPlugin) {
  const PjrtError error(ErrorCode::ResourceExhausted, "no room", "PJRT_Client_Compile", "plugin.so");
  EXPECT_EQ(error.code(), ErrorCode::ResourceExhausted);
  EXPECT_EQ(error.text(), "no room");
  EXPECT_STREQ(error.what(), "PJRT_Client_Compile: RESOURCE_EXHAUSTED: no room (plugin plugin.so)");
}

TEST(PjrtErrors, ACodeThatWeDoNotKnowPrintsAsItsNumber) { EXPECT_EQ(name_of(static_cast<ErrorCode>(99)), "code 99"); }

TEST(LiveHandles, AreZeroWhereNothingWasMade) { EXPECT_EQ(live_handles(), LiveHandles{}); }

}  // namespace
}  // namespace tethys::pjrt
