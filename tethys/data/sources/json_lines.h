// JSON lines: a file whose every line is a JSON object, one member of which is a document's text. Read a line at a
// time; the file may be compressed (byte_source.h). Blank lines are passed over.
//
//   JsonLines file("corpus.jsonl.gz");
//   for (Line line; file.next(line);) {
//     if (std::optional<std::string> text = document_in(line, "corpus.jsonl.gz", {.text_field = "body"})) use(*text);
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/sources/byte_source.h"

namespace tethys {

// Which part of a line is the document, and what a line without one is.
struct LineOptions {
  std::string text_field = "text";
  bool skip_bad_lines = false;
  bool chats = false;  // a conversation (chat/conversation.h), and no text
};

// The longest line that is read, in bytes.
inline constexpr size_t kLongestLine = size_t{64} << 20;

struct Line {
  int64_t number = 0;  // from 1, blank lines counted
  std::string text;    // without its end; its beginning if it is too long
  bool too_long = false;
};

// Whether a name ends in .jsonl, .jsonl.gz or .jsonl.zst.
bool is_json_lines(std::string_view path);

class JsonLines {
 public:
  explicit JsonLines(const std::string& path, size_t longest = kLongestLine);
  JsonLines(std::unique_ptr<ByteSource> source, size_t longest);

  // The next line that is not blank; false at the end.
  bool next(Line& line);
  // Bytes of the file that were read so far.
  int64_t position() const { return source_->position(); }

 private:
  bool next_of_any_kind(Line& line);

  std::unique_ptr<ByteSource> source_;
  size_t longest_;
  std::vector<char> buffer_;
  std::string_view left_;  // of the buffer
  int64_t number_ = 0;
};

// The document, a member of the line's object; the last one where several have its name. Without one, nothing if bad
// lines are skipped, or else a UserError that names file, line and reason.
std::optional<std::string> document_in(const Line& line, const std::string& path, const LineOptions& options);

}  // namespace tethys
