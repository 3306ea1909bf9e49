#include "tools/probe.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <stdexcept>

namespace tethys {
namespace {

using std::chrono::seconds;

TEST(Probe, GivesWhatTheWorkGives) {
  const std::string long_text(100000, 'x');
  EXPECT_EQ(probe([&] { return long_text; }, seconds(20)).result, long_text);
}

TEST(Probe, TellsHowTheWorkFailed) {
  const auto trouble = [](auto work) {
    const Probed probed = probe(work, seconds(20));
    EXPECT_FALSE(probed.result);
    return probed.trouble;
  };
  EXPECT_EQ(trouble([]() -> std::string { throw std::runtime_error("no such plugin"); }), "no such plugin");
  EXPECT_EQ(trouble([]() -> std::string {
              std::fputs("first\nUnknown flag\n\n", stderr);
              ::signal(SIGTERM, SIG_DFL);
              ::raise(SIGTERM);
              return "";
            }),
            "it ended the process by signal 15: Unknown flag");
  EXPECT_EQ(trouble([]() -> std::string {
              std::fputs("note\nE0000 00:00:1.5 7 flags.cc:63] x is no number\nF0000 a.cc:2] Check failed\nusage",
                         stderr);
              ::_exit(1);
            }),
            "it ended the process by exit 1: x is no number");
  EXPECT_EQ(trouble([]() -> std::string { ::_exit(7); }), "it ended the process by exit 7: ");
}

TEST(Probe, DoesNotWaitForEver) {
  const Probed probed = probe(
      [] {
        ::sleep(100);
        return std::string();
      },
      seconds(1));
  EXPECT_FALSE(probed.result);
  EXPECT_EQ(probed.trouble, "it did not end within 1 s");
}

}  // namespace
}  // namespace tethys
