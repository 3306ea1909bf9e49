// The rows of a Parquet file, read with Arrow; what they are is said in data/sources/parquet.h.
#pragma once

#include <memory>
#include <string>

#include "data/sources/lines.h"

namespace tethys {

std::unique_ptr<LineSource> open_rows(const std::string& path, const LineOptions& options);

}  // namespace tethys
