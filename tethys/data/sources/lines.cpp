#include "data/sources/lines.h"

#include "base/error.h"
#include "data/sources/json_lines.h"
#include "data/sources/parquet.h"

namespace tethys {

namespace {

std::string_view unpacked(std::string_view path) {
  for (const std::string_view packed : {".gz", ".zst"}) {
    if (path.ends_with(packed)) path.remove_suffix(packed.size());
  }
  return path;
}

}  // namespace

bool is_json_lines(std::string_view path) { return unpacked(path).ends_with(".jsonl"); }

bool is_parquet(std::string_view path) { return unpacked(path).ends_with(".parquet"); }

std::unique_ptr<LineSource> open_line_source(const std::string& path, const LineOptions& options) {
  if (is_parquet(path)) return open_parquet(path, options);
  return std::make_unique<JsonLines>(path);
}

std::string place_of(const Line& line, const std::string& path) {
  return fmt::format("{}: {} {}", path, line.is_row ? "row" : "line", line.number);
}

std::optional<std::string> document_in(const Line& line, const std::string& path, const LineOptions& options) {
  std::optional<std::string> text;
  std::string wrong = line.wrong;
  if (wrong.empty() && line.is_row) return line.text;
  if (wrong.empty()) wrong = read_json_text(line.text, options.text_field, text);
  if (wrong.empty() || options.skip_bad_lines) return text;
  user_error("{} {}; expected {} \"{}\" (data.text_field), or --data.skip_bad_lines", place_of(line, path), wrong,
             line.is_row ? "a text in the column" : "an object with a text", options.text_field);
}

}  // namespace tethys
