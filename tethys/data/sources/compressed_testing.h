// What the tests of compressed files share: a text as zlib's and zstd's own one-call functions pack it.
#pragma once

#include <zlib.h>
#include <zstd.h>

#include <string>

#include "base/error.h"

namespace tethys {

inline std::string gzipped(const std::string& text) {
  z_stream stream = {};
  constexpr int kGzip = 16;
  require(::deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + kGzip, 8, Z_DEFAULT_STRATEGY) == Z_OK, "zlib");
  std::string packed(::deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  require(::deflate(&stream, Z_FINISH) == Z_STREAM_END, "zlib");
  packed.resize(stream.total_out);
  ::deflateEnd(&stream);
  return packed;
}

inline std::string zstandard(const std::string& text) {
  std::string packed(::ZSTD_compressBound(text.size()), '\0');
  const size_t size = ::ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 1);
  require(::ZSTD_isError(size) == 0, "zstd");
  packed.resize(size);
  return packed;
}

}  // namespace tethys
