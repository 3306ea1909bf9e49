// JSON lines: a file whose every line is a JSON object, one member of which is a document's text. Read a line at a
// time; the file may be compressed (byte_source.h). Blank lines are passed over.
//
//   JsonLines file("corpus.jsonl.gz");
//   for (Line line; file.next(line);) use(line);
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/sources/byte_source.h"
#include "data/sources/lines.h"

namespace tethys {

class JsonLines : public LineSource {
 public:
  explicit JsonLines(const std::string& path, size_t longest = kLongestLine);
  JsonLines(std::unique_ptr<ByteSource> source, size_t longest);

  // The next line that is not blank; false at the end.
  bool next(Line& line) override;
  // Bytes of the file that were read so far.
  int64_t position() const override { return source_->position(); }

 private:
  bool next_of_any_kind(Line& line);

  std::unique_ptr<ByteSource> source_;
  size_t longest_;
  std::vector<char> buffer_;
  std::string_view left_;  // of the buffer
  int64_t number_ = 0;
};

// The text that is a member of the line's object; the last one where several have its name. Gives what is wrong with
// the line, or nothing if it gave its text.
std::string read_json_text(const std::string& line, const std::string& field, std::optional<std::string>& text);

}  // namespace tethys
