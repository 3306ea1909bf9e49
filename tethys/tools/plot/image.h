// Image: RGB pixels, drawn on and written as PNG.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/file.h"

namespace tethys {

struct Color {
  uint8_t red = 0, green = 0, blue = 0;
  bool operator==(const Color&) const = default;
};

class Image {
 public:
  Image(int width, int height, Color background);

  int width() const { return width_; }
  int height() const { return height_; }
  Color at(int x, int y) const;

  // Outside of the image nothing is drawn.
  void fill(int x, int y, int width, int height, Color color);
  // A line of two pixels' width, its edges smoothed.
  void line(double x0, double y0, double x1, double y1, Color color);
  // `x`, `y` is the upper left corner; a character takes 6 × 7 pixels times `scale`.
  void text(int x, int y, std::string_view text, Color color, int scale = 2);

  // UserError if the file cannot be written.
  void write_png(const Path& path) const;

 private:
  void blend(int x, int y, Color color, double share);

  int width_, height_;
  std::vector<uint8_t> pixels_;  // row-major, three bytes each
};

}  // namespace tethys
