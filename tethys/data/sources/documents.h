// The documents of a file of text, whatever reads it: a file whose name says that it holds lines or rows (lines.h) has
// one in each; any other is one as a whole, unpacked where its name says that it is packed (byte_source.h).
//
//   for_each_document("corpus.jsonl.zst", {}, [&](std::string text, int64_t line) { use(text); });
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "data/sources/lines.h"

namespace tethys {

// `line` is 0 of a file that is one document.
using UseDocument = std::function<void(std::string text, int64_t line)>;
// What document_in does.
using TextOfLine = std::function<std::optional<std::string>(const Line&, const std::string& path, const LineOptions&)>;

// Calls `use` with each document in order, and `read` with the bytes of the file that were read since it was last
// called. Gives how many bad lines were skipped. UserError if the file cannot be read, or a line is bad.
int64_t for_each_document(const std::string& path, const LineOptions& options, const UseDocument& use,
                          const std::function<void(int64_t)>& read = {}, const TextOfLine& text_of = document_in);

// The longest file, unpacked, that is read as one document, in bytes: it is held whole.
inline constexpr size_t kLongestDocument = size_t{1} << 30;

// A file that is one document. UserError if it is longer than `longest`.
std::string read_document(const std::string& path, size_t longest = kLongestDocument);

}  // namespace tethys
