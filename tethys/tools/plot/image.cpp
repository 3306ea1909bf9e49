#include "tools/plot/image.h"

#include <png.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "tools/plot/font.h"

namespace tethys {

Image::Image(int width, int height, Color background)
    : width_(width), height_(height), pixels_(static_cast<size_t>(width) * static_cast<size_t>(height) * 3) {
  fill(0, 0, width, height, background);
}

Color Image::at(int x, int y) const {
  const uint8_t* p = &pixels_[(static_cast<size_t>(y) * static_cast<size_t>(width_) + static_cast<size_t>(x)) * 3];
  return {p[0], p[1], p[2]};
}

void Image::blend(int x, int y, Color color, double share) {
  if (x < 0 || y < 0 || x >= width_ || y >= height_) return;
  uint8_t* p = &pixels_[(static_cast<size_t>(y) * static_cast<size_t>(width_) + static_cast<size_t>(x)) * 3];
  const uint8_t wanted[] = {color.red, color.green, color.blue};
  for (int i = 0; i < 3; ++i) p[i] = static_cast<uint8_t>(std::lround(p[i] + (wanted[i] - p[i]) * share));
}

void Image::fill(int x, int y, int width, int height, Color color) {
  for (int row = y; row < y + height; ++row) {
    for (int column = x; column < x + width; ++column) blend(column, row, color, 1);
  }
}

void Image::line(double x0, double y0, double x1, double y1, Color color) {
  const double dx = x1 - x0, dy = y1 - y0, square = dx * dx + dy * dy;
  const int left = static_cast<int>(std::floor(std::min(x0, x1))) - 2;
  const int right = static_cast<int>(std::ceil(std::max(x0, x1))) + 2;
  const int top = static_cast<int>(std::floor(std::min(y0, y1))) - 2;
  const int bottom = static_cast<int>(std::ceil(std::max(y0, y1))) + 2;
  for (int y = top; y <= bottom; ++y) {
    for (int x = left; x <= right; ++x) {
      const double along = square > 0 ? std::clamp(((x - x0) * dx + (y - y0) * dy) / square, 0.0, 1.0) : 0;
      const double distance = std::hypot(x - x0 - along * dx, y - y0 - along * dy);
      blend(x, y, color, std::clamp(1.5 - distance, 0.0, 1.0));
    }
  }
}

void Image::text(int x, int y, std::string_view text, Color color, int scale) {
  for (size_t i = 0; i < text.size(); ++i) {
    const Glyph& glyph = glyph_of(text[i]);
    for (int row = 0; row < 7; ++row) {
      for (int column = 0; column < 5; ++column) {
        if ((glyph[static_cast<size_t>(row)] >> (4 - column) & 1) == 0) continue;
        fill(x + (static_cast<int>(i) * 6 + column) * scale, y + row * scale, scale, scale, color);
      }
    }
  }
}

void Image::write_png(const Path& path) const {
  png_image header = {};
  header.version = PNG_IMAGE_VERSION;
  header.width = static_cast<png_uint_32>(width_);
  header.height = static_cast<png_uint_32>(height_);
  header.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(header);
  std::string bytes(size, '\0');
  if (png_image_write_to_memory(&header, bytes.data(), &size, 0, pixels_.data(), 0, nullptr) == 0) {
    internal_error("libpng cannot encode a picture of {} × {}: {}", width_, height_, header.message);
  }
  bytes.resize(size);
  write_file(path, bytes);
}

}  // namespace tethys
