#include "data/sources/byte_source.h"

#include <zlib.h>
#include <zstd.h>

#include <vector>

#include "base/error.h"
#include "base/file.h"

namespace tethys {
namespace {

class FileSource : public ByteSource {
 public:
  explicit FileSource(const std::string& path) : file_(path) {}
  size_t read(std::span<char> out) override {
    const size_t n = file_.read(out);
    position_ += static_cast<int64_t>(n);
    return n;
  }
  int64_t position() const override { return position_; }

 private:
  InputFile file_;
  int64_t position_ = 0;
};

// What is left of a piece of a file, and the next piece.
class Input {
 public:
  Input(const std::string& path, size_t piece) : path_(path), file_(path), buffer_(piece) {}

  // What is there: read when nothing was left. Empty at the end of the file.
  std::span<char> bytes() {
    if (left_.empty() && !ended_) {
      left_ = std::span(buffer_).first(file_.read(buffer_));
      ended_ = left_.empty();
    }
    return left_;
  }
  void used(size_t count) { left_ = left_.subspan(count); }
  int64_t position() const { return file_.position(); }

  [[noreturn]] void damaged(const char* format, const char* reason) const {
    user_error("{}: its {} data is damaged: {}", path_, format, reason == nullptr ? "it does not unpack" : reason);
  }
  [[noreturn]] void ends_early(const char* format) const {
    user_error("{}: its {} data ends early; the file is incomplete", path_, format);
  }

 private:
  std::string path_;
  FileSource file_;
  std::vector<char> buffer_;
  std::span<char> left_;
  bool ended_ = false;
};

class GzipSource : public ByteSource {
 public:
  GzipSource(const std::string& path, size_t piece) : input_(path, piece) {
    constexpr int kGzipOnly = 16;
    require(::inflateInit2(&stream_, MAX_WBITS + kGzipOnly) == Z_OK, "zlib does not begin");
  }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;
  ~GzipSource() override { ::inflateEnd(&stream_); }

  size_t read(std::span<char> out) override {
    for (;;) {
      const std::span<char> in = input_.bytes();
      if (member_ended_) {
        if (in.empty()) return 0;
        ::inflateReset(&stream_);
        member_ended_ = false;
      }
      stream_.next_in = reinterpret_cast<Bytef*>(in.data());
      stream_.avail_in = static_cast<uInt>(in.size());
      stream_.next_out = reinterpret_cast<Bytef*>(out.data());
      stream_.avail_out = static_cast<uInt>(out.size());
      const int result = ::inflate(&stream_, Z_NO_FLUSH);
      if (result == Z_STREAM_END) {
        member_ended_ = true;
      } else if (result == Z_BUF_ERROR && in.empty()) {
        input_.ends_early("gzip");
      } else if (result != Z_OK) {
        input_.damaged("gzip", stream_.msg);
      }
      input_.used(in.size() - stream_.avail_in);
      if (const size_t got = out.size() - stream_.avail_out; got > 0) return got;
    }
  }
  int64_t position() const override { return input_.position(); }

 private:
  Input input_;
  z_stream stream_ = {};
  bool member_ended_ = false;
};

class ZstdSource : public ByteSource {
 public:
  ZstdSource(const std::string& path, size_t piece) : input_(path, piece), context_(::ZSTD_createDCtx()) {
    require(context_ != nullptr, "zstd does not begin");
  }

  size_t read(std::span<char> out) override {
    for (;;) {
      const std::span<char> bytes = input_.bytes();
      if (bytes.empty() && frame_ended_) return 0;
      ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
      ZSTD_outBuffer to{out.data(), out.size(), 0};
      const size_t result = ::ZSTD_decompressStream(context_.get(), &to, &in);
      if (::ZSTD_isError(result) != 0) input_.damaged("zstd", ::ZSTD_getErrorName(result));
      frame_ended_ = result == 0;
      input_.used(in.pos);
      if (to.pos > 0) return to.pos;
      if (bytes.empty() && !frame_ended_) input_.ends_early("zstd");
    }
  }
  int64_t position() const override { return input_.position(); }

 private:
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ::ZSTD_freeDCtx(context); }
  };
  Input input_;
  std::unique_ptr<ZSTD_DCtx, Free> context_;
  bool frame_ended_ = false;
};

}  // namespace

bool is_compressed(const std::string& path) { return path.ends_with(".gz") || path.ends_with(".zst"); }

std::unique_ptr<ByteSource> open_bytes(const std::string& path, size_t piece) {
  if (path.ends_with(".gz")) return std::make_unique<GzipSource>(path, piece);
  if (path.ends_with(".zst")) return std::make_unique<ZstdSource>(path, piece);
  return std::make_unique<FileSource>(path);
}

std::optional<std::string> read_all(ByteSource& source, size_t most) {
  std::string text;
  std::vector<char> piece(size_t{1} << 16);
  while (const size_t size = source.read(piece)) {
    if (size > most - text.size()) return std::nullopt;
    text.append(piece.data(), size);
  }
  return text;
}

}  // namespace tethys
