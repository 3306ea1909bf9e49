// Frame: where a chart's values lie in a picture, whose y grows downward.
#pragma once

#include "tools/plot/chart.h"

namespace tethys {

struct Frame {
  ChartRange range;
  double left = 0, right = 0, top = 0, bottom = 0;  // the edges, in the picture's units

  double x(double value) const { return left + (value - range.x_low) / (range.x_high - range.x_low) * (right - left); }
  double y(double value) const {
    return bottom - (value - range.y_low) / (range.y_high - range.y_low) * (bottom - top);
  }
};

}  // namespace tethys
