#include "data/tokenizer/text_stream.h"

#include <utility>

namespace tethys {

size_t complete_utf8(std::string_view bytes) {
  for (size_t back = 1; back <= 3 && back <= bytes.size(); ++back) {
    auto byte = static_cast<uint8_t>(bytes[bytes.size() - back]);
    if ((byte & 0xC0) == 0x80) continue;
    size_t needs = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
    return needs > back ? bytes.size() - back : bytes.size();
  }
  return bytes.size();
}

std::string TextStream::push(int32_t id) {
  if (specials_ == Specials::Keep || !tokenizer_.is_special(id)) waiting_ += tokenizer_.token(id);
  std::string ready = waiting_.substr(0, complete_utf8(waiting_));
  waiting_.erase(0, ready.size());
  return ready;
}

std::string TextStream::rest() { return std::exchange(waiting_, {}); }

}  // namespace tethys
