// LineSource: the documents of a file that holds several, one at a time: the lines of a file of JSON lines, compressed
// or not, or the rows of a Parquet file. The name of a file says which it is.
//
//   const LineOptions options{.text_field = "body"};
//   const auto source = open_line_source("corpus.jsonl.gz", options);
//   for (Line line; source->next(line);) {
//     if (std::optional<std::string> text = document_in(line, "corpus.jsonl.gz", options)) use(*text);
//   }
#pragma once

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace tethys {

// Which part of a line is the document, and what a line without one is.
struct LineOptions {
  std::string text_field = "text";
  bool skip_bad_lines = false;
  bool chats = false;               // a conversation (chat/conversation.h), and no text
  std::string parquet_reader = {};  // path of the component that reads Parquet (sources/parquet.h)
};

// The longest line, or text of a row, that is read, in bytes.
inline constexpr size_t kLongestLine = size_t{64} << 20;

struct Line {
  bool is_row = false;  // of a Parquet file
  int64_t number = 0;   // from 1, blank lines counted
  std::string text;     // JSON, without the line's end; of a row the text itself, or JSON that holds its conversation
  std::string wrong;    // what the source found wrong with it, such as "is longer than …"; text is then of no use
};

class LineSource {
 public:
  virtual ~LineSource() = default;
  // The next line that is not blank; false at the end. UserError if the file cannot be read or is damaged.
  virtual bool next(Line& line) = 0;
  // How far it is, in bytes of the file.
  virtual int64_t position() const = 0;
};

// Whether a name ends in .jsonl, .jsonl.gz or .jsonl.zst.
bool is_json_lines(std::string_view path);
// Whether a name ends in .parquet, or in .parquet.gz or .parquet.zst, which open_line_source refuses.
bool is_parquet(std::string_view path);
inline bool holds_lines(std::string_view path) { return is_json_lines(path) || is_parquet(path); }

// Of a file that holds lines.
std::unique_ptr<LineSource> open_line_source(const std::string& path, const LineOptions& options);

// "corpus.jsonl: line 7", "corpus.parquet: row 7".
std::string place_of(const Line& line, const std::string& path);

inline std::string too_long_message(size_t longest) {
  return fmt::format("is longer than the {} bytes that a line may have", longest);
}

// The document of a line. Without one, nothing if bad lines are skipped, or else a UserError that names file, line and
// reason.
std::optional<std::string> document_in(const Line& line, const std::string& path, const LineOptions& options);

}  // namespace tethys
