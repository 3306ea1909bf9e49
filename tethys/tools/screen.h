// Screen: lines above a bar that stays at the bottom of a terminal. Where the output is no terminal there is no bar,
// and a stage of long work is a line at its beginning and one at its end.
//
//   Screen screen(surroundings.out, surroundings.width);
//   screen.stage("tokenising", 5, 40);
//   screen.line("data: 1,000 tokens");
//   screen.bar(3, 10, 0.5);
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace tethys {

class Screen {
 public:
  Screen(std::ostream& out, std::optional<int> width) : out_(out), width_(width) {}
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;
  ~Screen() { clear(); }

  void line(const std::string& text);
  void bar(int64_t done, int64_t total, double seconds_per_unit);
  // As Progress calls it. A stage ends when all is done, or another one or a line comes.
  void stage(std::string_view name, int64_t done, int64_t total);

 private:
  void begin_stage(std::string_view name, bool all_done);
  void end_stage();
  void show(const std::string& bar);
  void clear();

  std::ostream& out_;
  std::optional<int> width_;
  size_t shown_ = 0;   // columns of the bar
  std::string stage_;  // in work; empty: none
  Clock::time_point stage_begin_;
};

}  // namespace tethys
