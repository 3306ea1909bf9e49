#include "data/tokenizer/json_part.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_message.h"

namespace tethys {
namespace {

using Json = nlohmann::json;

constexpr int kDeepest = 64;

// As it would stand in the file, if that is short.
std::string shown(const Json& value) {
  if (value.is_structured() && value.size() > 12) {
    return fmt::format("{} of {}", value.is_object() ? "an object" : "an array", value.size());
  }
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() <= 160) return text;
  size_t end = 160;
  while ((static_cast<uint8_t>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + " …";
}

// The parser itself does not recurse, but what walks the value afterwards does.
bool too_deep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepest) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

}  // namespace

JsonPart JsonPart::member(const char* name) const {
  if (!value_->is_object()) wrong("an object");
  std::string place = place_.empty() ? name : place_ + "." + name;
  auto found = value_->find(name);
  if (found == value_->end()) user_error("{}: {} is missing", *file_, place);
  return {*found, *file_, std::move(place)};
}

std::optional<JsonPart> JsonPart::find(const char* name) const {
  if (!value_->is_object()) wrong("an object");
  auto found = value_->find(name);
  if (found == value_->end() || found->is_null()) return std::nullopt;
  return member(name);
}

size_t JsonPart::size() const {
  if (!value_->is_array()) wrong("an array");
  return value_->size();
}

JsonPart JsonPart::element(size_t index) const {
  return {(*value_)[index], *file_, fmt::format("{}[{}]", place_, index)};
}

const std::string& JsonPart::text() const {
  if (!value_->is_string()) wrong("a text");
  return value_->get_ref<const std::string&>();
}

bool JsonPart::flag() const {
  if (!value_->is_boolean()) wrong("true or false");
  return value_->get<bool>();
}

int32_t JsonPart::id() const {
  constexpr uint64_t kMost = std::numeric_limits<int32_t>::max() - 1;
  if (!value_->is_number_unsigned() || value_->get<uint64_t>() > kMost) wrong("an id: a whole number from 0");
  return value_->get<int32_t>();
}

bool JsonPart::flag_or(const char* name, bool standard) const {
  std::optional<JsonPart> part = find(name);
  return part ? part->flag() : standard;
}

std::string JsonPart::text_or(const char* name, std::string_view standard) const {
  std::optional<JsonPart> part = find(name);
  return part ? part->text() : std::string(standard);
}

void JsonPart::wrong(std::string_view expected) const {
  user_error("{}: {} is {}; expected {}", *file_, place_.empty() ? "the top level" : place_, shown(*value_), expected);
}

void JsonPart::unsupported(std::string_view expected) const {
  user_error("{}: {} is {}, which is not supported; expected {}", *file_, place_, shown(*value_), expected);
}

void JsonPart::invalid(std::string_view message) const { user_error("{}: {}: {}", *file_, place_, message); }

JsonDocument::JsonDocument(std::string_view text, std::string file) : file_(std::move(file)) {
  if (too_deep(text)) user_error("{} is not valid: it nests deeper than {} levels", file_, kDeepest);
  try {
    value_ = std::make_unique<Json>(Json::parse(text));
  } catch (const Json::exception& error) {
    user_error("{} is not valid JSON: {}", file_, without_json_code(error.what()));
  }
}

JsonDocument::~JsonDocument() = default;

}  // namespace tethys
