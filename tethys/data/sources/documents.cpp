#include "data/sources/documents.h"

#include <memory>
#include <utility>

#include "base/error.h"
#include "data/sources/byte_source.h"

namespace tethys {
namespace {

std::string read_whole(ByteSource& source, const std::string& path, size_t longest) {
  if (std::optional<std::string> text = read_all(source, longest)) return *std::move(text);
  user_error(
      "{} is one document of more than {} bytes, which is held whole: cut it into several files, or make it lines, "
      "a document in each (.jsonl)",
      path, longest);
}

}  // namespace

int64_t for_each_document(const std::string& path, const LineOptions& options, const UseDocument& use,
                          const std::function<void(int64_t)>& read, const TextOfLine& text_of) {
  int64_t told = 0;
  const auto tell = [&](int64_t position) {
    if (read && position > told) read(position - std::exchange(told, position));
  };
  if (!holds_lines(path)) {
    const std::unique_ptr<ByteSource> source = open_bytes(path);
    std::string text = read_whole(*source, path, kLongestDocument);
    tell(source->position());
    use(std::move(text), 0);
    return 0;
  }
  int64_t skipped = 0;
  const std::unique_ptr<LineSource> lines = open_line_source(path, options);
  for (Line line; lines->next(line);) {
    std::optional<std::string> text = text_of(line, path, options);
    text ? use(*std::move(text), line.number) : void(++skipped);
    tell(lines->position());
  }
  return skipped;
}

std::string read_document(const std::string& path, size_t longest) {
  return read_whole(*open_bytes(path), path, longest);
}

}  // namespace tethys
