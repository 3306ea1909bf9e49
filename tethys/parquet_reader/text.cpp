#include "parquet_reader/text.h"

#include <arrow/array.h>
#include <arrow/type.h>
#include <arrow/util/utf8.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace tethys {
namespace {

using Json = nlohmann::json;
using Type = arrow::Type;

template <typename Array>
const Array& as(const arrow::Array& array) {
  return static_cast<const Array&>(array);
}

// Nothing for a null.
std::optional<std::string_view> text_at(const arrow::Array& column, int64_t row) {
  if (column.IsNull(row)) return std::nullopt;
  switch (column.type_id()) {
    case Type::STRING: return as<arrow::StringArray>(column).GetView(row);
    case Type::LARGE_STRING: return as<arrow::LargeStringArray>(column).GetView(row);
    case Type::STRING_VIEW: return as<arrow::StringViewArray>(column).GetView(row);
    default: break;
  }
  const auto& dictionary = as<arrow::DictionaryArray>(column);
  const int64_t index = dictionary.GetValueIndex(row), size = dictionary.dictionary()->length();
  if (index < 0 || index >= size) throw std::runtime_error("an index that its dictionary does not have");
  return text_at(*dictionary.dictionary(), index);
}

bool is_utf8(std::string_view text) {
  [[maybe_unused]] static const bool prepared = (arrow::util::InitializeUTF8(), true);
  return arrow::util::ValidateUTF8(text);
}

// Of the column that a struct has under the name; null if it has none.
std::shared_ptr<arrow::Field> text_field(const arrow::DataType& type, const char* name) {
  const auto& fields = static_cast<const arrow::StructType&>(type);
  const std::shared_ptr<arrow::Field> field = fields.GetFieldByName(name);
  return field && is_text(*field->type()) ? field : nullptr;
}

struct Range {
  int64_t begin, end;
  const arrow::StructArray& messages;
};

template <typename List>
Range messages_of(const arrow::Array& column, int64_t row) {
  const auto& list = as<List>(column);
  return {list.value_offset(row), list.value_offset(row) + list.value_length(row),
          as<arrow::StructArray>(*list.values())};
}

// What is wrong with the text; empty if the message has it now.
std::string read_member(const arrow::Array& column, int64_t row, const char* name, Json& message) {
  const std::optional<std::string_view> text = text_at(column, row);
  if (text && !is_utf8(*text)) return fmt::format("has a \"{}\" that is not UTF-8", name);
  if (text) message[name] = std::string(*text);
  return "";
}

}  // namespace

bool is_text(const arrow::DataType& type) {
  switch (type.id()) {
    case Type::STRING:
    case Type::LARGE_STRING:
    case Type::STRING_VIEW: return true;
    case Type::DICTIONARY: return is_text(*static_cast<const arrow::DictionaryType&>(type).value_type());
    default: return false;
  }
}

bool is_chat(const arrow::DataType& type) {
  if (type.id() != Type::LIST && type.id() != Type::LARGE_LIST) return false;
  const arrow::DataType& element = *type.field(0)->type();
  return element.id() == Type::STRUCT && text_field(element, "role") && text_field(element, "content");
}

void read_text(const arrow::Array& column, int64_t row, const std::string& name, Line& line) {
  const std::optional<std::string_view> text = text_at(column, row);
  if (!text) {
    line.wrong = fmt::format("has a \"{}\" that is null", name);
  } else if (text->size() > kLongestLine) {
    line.wrong = too_long_message(kLongestLine);
  } else if (!is_utf8(*text)) {
    line.wrong = fmt::format("has a \"{}\" that is not UTF-8", name);
  } else {
    line.text = *text;
  }
}

void read_chat(const arrow::Array& column, int64_t row, Line& line) {
  Json messages;
  if (column.IsValid(row)) {
    messages = Json::array();
    const Range range = column.type_id() == Type::LIST ? messages_of<arrow::ListArray>(column, row)
                                                       : messages_of<arrow::LargeListArray>(column, row);
    const std::shared_ptr<arrow::Array> role = range.messages.GetFieldByName("role");
    const std::shared_ptr<arrow::Array> content = range.messages.GetFieldByName("content");
    for (int64_t i = range.begin; i < range.end; ++i) {
      Json& message = messages.emplace_back();
      if (range.messages.IsNull(i)) continue;
      message = Json::object();
      line.wrong = read_member(*role, i, "role", message);
      if (line.wrong.empty()) line.wrong = read_member(*content, i, "content", message);
      if (!line.wrong.empty()) return;
    }
  }
  line.text = Json{{"messages", std::move(messages)}}.dump();
  if (line.text.size() > kLongestLine) line.wrong = too_long_message(kLongestLine);
}

}  // namespace tethys
