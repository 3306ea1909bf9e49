#include "parquet_reader/rows.h"

#include <arrow/array.h>
#include <arrow/chunked_array.h>
#include <arrow/io/file.h>
#include <arrow/memory_pool.h>
#include <arrow/type.h>
#include <arrow/util/io_util.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <parquet/arrow/reader.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/properties.h>

#include <algorithm>
#include <new>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "parquet_reader/text.h"

namespace tethys {
namespace {

// So many rows are decoded at a time: few, since texts may be long. Texts of some thousand bytes are read no faster by
// more.
constexpr int64_t kRows = 64;
// So many names of columns are told.
constexpr int kNames = 40;

// As exceptions, of which guarded() makes a message.
void check(const arrow::Status& status) {
  if (status.ok()) return;
  if (const int reason = arrow::internal::ErrnoFromStatus(status); reason != 0) {
    throw std::system_error(reason, std::generic_category());
  }
  if (status.IsOutOfMemory()) throw std::bad_alloc();
  throw std::runtime_error(status.message());
}

template <typename T>
T checked(arrow::Result<T> result) {
  check(result.status());
  return std::move(result).ValueUnsafe();
}

// Runs what calls Arrow. What it throws becomes a UserError that names the file, or a std::system_error.
template <typename Call>
auto guarded(const std::string& path, const Call& call) {
  try {
    return call();
  } catch (const UserError&) {
    throw;
  } catch (const std::system_error&) {
    throw;
  } catch (const std::bad_alloc&) {
    user_error("{} asks for more memory than there is; it is damaged, or its rows are too large", path);
  } catch (const std::exception& error) {
    user_error("{} is no Parquet file, or a damaged one: {}", path, error.what());
  }
}

class Rows : public LineSource {
 public:
  Rows(std::string path, const LineOptions& options)
      : path_(std::move(path)), chats_(options.chats), name_(chats_ ? "messages" : options.text_field) {
    guarded(path_, [&] { open(); });
  }

  bool next(Line& line) override {
    return guarded(path_, [&] { return next_row(line); });
  }

  int64_t position() const override {
    return all_ == 0 ? size_
                     : static_cast<int64_t>(static_cast<double>(size_) *
                                            (static_cast<double>(row_) / static_cast<double>(all_)));
  }

 private:
  void open() {
    // malloc, which is the program's: Arrow's own allocators would keep memory of their own beside it.
    arrow::MemoryPool* pool = arrow::system_memory_pool();
    const std::shared_ptr<arrow::io::ReadableFile> file = checked(arrow::io::ReadableFile::Open(path_, pool));
    size_ = checked(file->GetSize());
    refuse_encrypted_footer(*file);
    parquet::ReaderProperties properties(pool);
    properties.enable_buffered_stream();  // pages as they are needed, no column of a row group as a whole
    properties.set_page_checksum_verification(true);
    parquet::ArrowReaderProperties of_arrow(/*use_threads=*/false);
    of_arrow.set_pre_buffer(false);
    of_arrow.set_batch_size(kRows);
    parquet::arrow::FileReaderBuilder builder;
    check(builder.Open(file, properties));
    reader_ = checked(builder.memory_pool(pool)->properties(of_arrow)->Build());
    const parquet::FileMetaData& data = *reader_->parquet_reader()->metadata();
    if (data.is_encryption_algorithm_set()) refuse_encrypted();
    all_ = data.num_rows();
    check(reader_->GetColumn(find_column(data), &column_));
  }

  [[noreturn]] void refuse_encrypted() const {
    user_error("{} is encrypted: expected a Parquet file that can be read without a key", path_);
  }

  void refuse_encrypted_footer(arrow::io::RandomAccessFile& file) const {
    constexpr std::string_view kMagic = "PARE";
    const auto length = static_cast<int64_t>(kMagic.size());
    if (size_ < length) return;
    const auto end = checked(file.ReadAt(size_ - length, length));
    if (std::string_view(*end) == kMagic) refuse_encrypted();
  }

  int find_column(const parquet::FileMetaData& data) const {
    const parquet::schema::GroupNode& root = *data.schema()->group_node();
    std::vector<std::string> names;
    int found = -1;
    for (int i = 0; i < root.field_count(); ++i) {
      names.push_back(root.field(i)->name());
      if (names.back() != name_) continue;
      if (found >= 0) user_error("{} has several columns \"{}\"; expected one", path_, name_);
      found = i;
    }
    if (found < 0) refuse_without_column(names);
    std::shared_ptr<arrow::Schema> schema;
    check(reader_->GetSchema(&schema));
    const arrow::DataType& type = *schema->field(found)->type();
    if (chats_ && !is_chat(type)) {
      user_error(
          "{}: the column \"{}\" holds {}; expected a list of structs with a text \"role\" and a text \"content\" "
          "(data.chats)",
          path_, name_, type.ToString());
    }
    if (!chats_ && !is_text(type)) {
      user_error("{}: the column \"{}\" holds {}; expected text; data.text_field names the column", path_, name_,
                 type.ToString());
    }
    return found;
  }

  [[noreturn]] void refuse_without_column(std::vector<std::string> names) const {
    const size_t more = names.size() - std::min<size_t>(names.size(), kNames);
    names.resize(names.size() - more);
    const std::string has = names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
    user_error("{} has no column \"{}\" ({}); its columns: {}{}", path_, name_,
               chats_ ? "data.chats" : "data.text_field", has, more == 0 ? "" : fmt::format(" and {} more", more));
  }

  bool next_row(Line& line) {
    while (chunk_ == nullptr || in_chunk_ == chunk_->length()) {
      if (!next_chunk()) return false;
    }
    line.is_row = true;
    line.number = ++row_;
    line.text.clear();
    line.wrong.clear();
    chats_ ? read_chat(*chunk_, in_chunk_++, line) : read_text(*chunk_, in_chunk_++, name_, line);
    return true;
  }

  bool next_chunk() {
    in_chunk_ = 0;
    while (batch_ == nullptr || in_batch_ == batch_->num_chunks()) {
      batch_ = nullptr;
      check(column_->NextBatch(kRows, &batch_));
      if (batch_ == nullptr || batch_->length() == 0) {
        end();
        return false;
      }
      in_batch_ = 0;
    }
    chunk_ = batch_->chunk(in_batch_++);
    return true;
  }

  void end() {
    batch_ = nullptr;
    chunk_ = nullptr;
    if (row_ != all_) throw std::runtime_error(fmt::format("it ends after {} of its {} rows", row_, all_));
  }

  std::string path_;
  bool chats_;
  std::string name_;
  int64_t size_ = 0;
  int64_t all_ = 0;  // rows
  int64_t row_ = 0;  // were read
  std::unique_ptr<parquet::arrow::FileReader> reader_;
  std::unique_ptr<parquet::arrow::ColumnReader> column_;
  std::shared_ptr<arrow::ChunkedArray> batch_;
  int in_batch_ = 0;  // the next chunk
  std::shared_ptr<arrow::Array> chunk_;
  int64_t in_chunk_ = 0;  // the next row
};

}  // namespace

std::unique_ptr<LineSource> open_rows(const std::string& path, const LineOptions& options) {
  return std::make_unique<Rows>(path, options);
}

}  // namespace tethys
