// Parquet: a file whose every row is a document: the text in one of its columns, or a conversation in its column
// "messages", a list of structs that have a role and a content. Row groups and pages are read as they are needed.
//
// The reader is a component, a shared library on Arrow that `make parquet` builds beside the program; it is loaded from
// LineOptions::parquet_reader when the first file is opened.
//
//   const std::string reader = folder_of_the_program / kParquetReader;
//   std::unique_ptr<LineSource> rows = open_parquet("corpus.parquet", {.text_field = "body", .parquet_reader =
//   reader});
#pragma once

#include <memory>
#include <string>

#include "data/sources/lines.h"

namespace tethys {

inline constexpr const char* kParquetReader = "tethys_parquet.so";

// UserError, which names the file, if the component is not there or damaged, or the file is no Parquet, is damaged or
// encrypted, or has no such column of text. What is wrong with a row stands in its Line.
std::unique_ptr<LineSource> open_parquet(const std::string& path, const LineOptions& options);

// What the component in this file reads with: "Arrow 26.0.1". UserError if it is not there or damaged.
std::string parquet_component(const std::string& file);

// What the component defines, as `tethys_parquet`, where its `tethys_parquet_interface` is the text that
// TETHYS_PARQUET_INTERFACE is here: cmake makes it of the headers that both sides must have compiled alike.
struct ParquetComponent {
  const char* reads_with;
  // Throws a std::system_error where the system refuses to read the file, and so do the rows.
  std::unique_ptr<LineSource> (*open)(const std::string& path, const LineOptions& options);
};

}  // namespace tethys
