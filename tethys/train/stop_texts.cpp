#include "train/stop_texts.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace tethys {
namespace {

// How many of the last bytes of `text` are the beginning of `stop`, and not all of it.
size_t begun(std::string_view text, std::string_view stop) {
  for (size_t size = std::min(text.size(), stop.size() - 1); size > 0; --size) {
    if (text.ends_with(stop.substr(0, size))) return size;
  }
  return 0;
}

}  // namespace

StopTexts::StopTexts(std::vector<std::string> texts) : texts_(std::move(texts)) {
  for (const std::string& text : texts_) require(!text.empty(), "an empty text to stop at");
}

std::string StopTexts::push(std::string_view piece) {
  if (found_) return "";
  waiting_ += piece;
  size_t end = std::string::npos, held = 0;
  for (const std::string& text : texts_) {
    end = std::min(end, waiting_.find(text));
    held = std::max(held, begun(waiting_, text));
  }
  found_ = end != std::string::npos;
  const size_t certain = found_ ? end : waiting_.size() - held;
  std::string result = waiting_.substr(0, certain);
  waiting_.erase(0, found_ ? waiting_.size() : certain);
  return result;
}

std::string StopTexts::rest() { return std::exchange(waiting_, ""); }

}  // namespace tethys
