#include "data/sources/documents.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include "base/file.h"
#include "data/sources/byte_source.h"

namespace tethys {

int64_t for_each_document(const std::string& path, const LineOptions& options, const UseDocument& use,
                          const std::function<void(int64_t)>& read, const TextOfLine& text_of) {
  int64_t told = 0;
  const auto tell = [&](int64_t position) {
    if (read && position > told) read(position - std::exchange(told, position));
  };
  if (!holds_lines(path)) {
    const std::unique_ptr<ByteSource> source = open_bytes(path);
    std::string text = read_all(*source);
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

std::string read_document(const std::string& path) {
  return is_compressed(path) ? read_all(*open_bytes(path)) : read_file(path);
}

BytesRead::BytesRead(const std::vector<std::string>& files, std::string_view stage, const Progress& progress)
    : stage_(stage), progress_(progress) {
  std::error_code gone;  // reading it is what fails, with a message
  for (const std::string& file : files) {
    const auto size = static_cast<int64_t>(std::filesystem::file_size(file, gone));
    if (!gone) total_ += size;
  }
  tell(0);
}

void BytesRead::add(int64_t bytes) {
  std::lock_guard lock(mutex_);
  done_ += bytes;
  if (done_ - told_ >= std::max<int64_t>(1, total_ / 100) && done_ < total_) tell(done_);
}

void BytesRead::tell(int64_t done) {
  told_ = done;
  report(progress_, stage_, done, total_);
}

}  // namespace tethys
