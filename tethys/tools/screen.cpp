#include "tools/screen.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include "train/console.h"

namespace tethys {

void Screen::line(const std::string& text) {
  end_stage();
  clear();
  out_.clear();  // what could not be written is lost; a disk that was full may have room again
  fmt::print(out_, "{}\n", text);
  out_.flush();
}

void Screen::bar(int64_t done, int64_t total, double seconds_per_unit) {
  if (width_) show(progress_bar(done, total, seconds_per_unit, *width_ - 1));
}

void Screen::stage(std::string_view name, int64_t done, int64_t total) {
  const bool all_done = done >= total;
  if (stage_ != name) begin_stage(name, all_done);
  if (width_) {
    const double seconds = done > 0 ? seconds_since(stage_begin_) / static_cast<double>(done) : 0;
    const int room = *width_ - 1 - static_cast<int>(name.size()) - 1;
    show(fmt::format("{} {}", name, progress_bar(done, total, seconds, room)));
  }
  if (all_done) end_stage();
}

void Screen::begin_stage(std::string_view name, bool all_done) {
  end_stage();
  stage_ = name;
  stage_begin_ = Clock::now();
  if (width_ || all_done) return;  // what takes no time needs no announcement
  fmt::print(out_, "{} …\n", name);
  out_.flush();
}

void Screen::end_stage() {
  if (stage_.empty()) return;
  clear();
  fmt::print(out_, "{}: done in {:.1f} s\n", stage_, seconds_since(stage_begin_));
  out_.flush();
  stage_.clear();
}

void Screen::show(const std::string& bar) {
  clear();
  fmt::print(out_, "{}", bar);
  out_.flush();
  shown_ = bar.size();
}

void Screen::clear() {
  if (shown_ > 0) fmt::print(out_, "\r{:{}}\r", "", shown_);
  shown_ = 0;
}

}  // namespace tethys
