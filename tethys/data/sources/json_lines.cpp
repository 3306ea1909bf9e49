#include "data/sources/json_lines.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "base/json_message.h"
#include "base/planted_bug.h"

namespace tethys {
namespace {

using Json = nlohmann::json;

// Keeps the one member that is asked for and builds nothing of the rest, however much or deep it is.
class FieldFinder : public Json::json_sax_t {
 public:
  explicit FieldFinder(const std::string& field) : field_(field) {}

  std::optional<std::string> text;
  bool is_object = false;
  bool is_there = false;
  std::string reason;  // why it is no JSON

  bool null() override { return other(); }
  bool boolean(bool) override { return other(); }
  bool number_integer(number_integer_t) override { return other(); }
  bool number_unsigned(number_unsigned_t) override { return other(); }
  bool number_float(number_float_t, const string_t&) override { return other(); }
  bool binary(binary_t&) override { return other(); }
  bool string(string_t& value) override {
    if (is_wanted()) text = std::move(value);
    return true;
  }
  bool start_object(std::size_t) override {
    if (depth_ == 0) is_object = true;
    other();
    ++depth_;
    return true;
  }
  bool key(string_t& name) override {
    if (depth_ != 1) return true;
    wanted_ = is_object && name == field_;
    is_there = is_there || wanted_;
    return true;
  }
  bool end_object() override { return ended(); }
  bool start_array(std::size_t) override {
    other();
    ++depth_;
    return true;
  }
  bool end_array() override { return ended(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) override {
    reason = without_json_code(error.what());
    return false;
  }

 private:
  bool is_wanted() const { return wanted_ && depth_ == 1; }
  bool other() {
    if (is_wanted()) text.reset();
    return true;
  }
  bool ended() {
    --depth_;
    return true;
  }

  const std::string& field_;
  size_t depth_ = 0;
  bool wanted_ = false;  // by the newest key at depth 1
};

}  // namespace

JsonLines::JsonLines(const std::string& path, size_t longest) : JsonLines(open_bytes(path), longest) {}

JsonLines::JsonLines(std::unique_ptr<ByteSource> source, size_t longest)
    : source_(std::move(source)), longest_(longest), buffer_(size_t{1} << 16) {}

bool JsonLines::next(Line& line) {
  while (next_of_any_kind(line)) {
    if (line.text.find_first_not_of(" \t\r") != std::string::npos) return true;
  }
  return false;
}

bool JsonLines::next_of_any_kind(Line& line) {
  line.is_row = false;
  line.number = ++number_;
  line.text.clear();
  line.wrong.clear();
  for (bool any = false;; any = true) {
    if (left_.empty()) left_ = {buffer_.data(), source_->read(buffer_)};
    if (left_.empty()) return any;
    const size_t end = left_.find('\n');
    const std::string_view part = left_.substr(0, end);
    const size_t room = kPlantedBug ? part.size() : longest_ - line.text.size();
    if (part.size() > room) line.wrong = too_long_message(longest_);
    line.text.append(part.substr(0, room));
    left_.remove_prefix(end == std::string_view::npos ? left_.size() : end + 1);
    if (end != std::string_view::npos) return true;
  }
}

std::string read_json_text(const std::string& line, const std::string& field, std::optional<std::string>& text) {
  // The parser would take one for the end of the text.
  if (line.find('\0') != std::string::npos) return "is not JSON: it holds a NUL byte";
  FieldFinder finder(field);
  if (!Json::sax_parse(line, &finder)) return fmt::format("is not JSON: {}", finder.reason);
  if (!finder.is_object) return "is no JSON object";
  if (!finder.is_there) return fmt::format("has no \"{}\"", field);
  if (!finder.text) return fmt::format("has a \"{}\" that is no text", field);
  text = std::move(finder.text);
  return "";
}

}  // namespace tethys
