// JsonPart: a value within a JSON file, with its place, so that every complaint names the file and the part.
//
//   JsonDocument document(text, "tokenizer.json");
//   document.root().member("model").member("type").text();   // or "tokenizer.json: model.type is 5; expected a text"
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace tethys {

class JsonPart {
 public:
  // Both must outlive the part. `file` opens each message.
  JsonPart(const nlohmann::json& value, const std::string& file, std::string place)
      : value_(&value), file_(&file), place_(std::move(place)) {}

  const nlohmann::json& value() const { return *value_; }

  // UserError if this is no object or has no such member.
  JsonPart member(const char* name) const;
  // Nothing if it is absent or null. UserError if this is no object.
  std::optional<JsonPart> find(const char* name) const;

  // UserError if this is no array.
  size_t size() const;
  JsonPart element(size_t index) const;

  const std::string& text() const;
  bool flag() const;
  int32_t id() const;  // 0 to 2^31 - 2
  bool flag_or(const char* name, bool standard) const;
  std::string text_or(const char* name, std::string_view standard) const;

  // "FILE: PLACE is VALUE; expected EXPECTED", and with "which is not supported" in between.
  [[noreturn]] void wrong(std::string_view expected) const;
  [[noreturn]] void unsupported(std::string_view expected) const;
  // "FILE: PLACE: MESSAGE"
  [[noreturn]] void invalid(std::string_view message) const;

 private:
  const nlohmann::json* value_;
  const std::string* file_;
  std::string place_;
};

// A parsed file. UserError if it is not JSON or nests too deep to be meant.
class JsonDocument {
 public:
  JsonDocument(std::string_view text, std::string file);
  ~JsonDocument();
  JsonPart root() const { return {*value_, file_, ""}; }

 private:
  std::unique_ptr<nlohmann::json> value_;
  std::string file_;
};

}  // namespace tethys
