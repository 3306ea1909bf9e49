// TextStream: the text of ids that come one by one. A token may end within a character; its bytes wait for the rest.
//
//   TextStream stream(tokenizer);
//   for (int32_t id : ids) print(stream.push(id));
//   print(stream.rest());
#pragma once

#include <cstdint>
#include <string>

#include "data/tokenizer/tokenizer.h"

namespace tethys {

// The longest prefix of `bytes` that does not end within a character; what can be no UTF-8 is no reason to wait.
size_t complete_utf8(std::string_view bytes);

class TextStream {
 public:
  explicit TextStream(const Tokenizer& tokenizer, Specials specials = Specials::Keep)
      : tokenizer_(tokenizer), specials_(specials) {}

  // What has become complete by this id.
  std::string push(int32_t id);
  // What is left at the end.
  std::string rest();

 private:
  const Tokenizer& tokenizer_;
  Specials specials_;
  std::string waiting_;
};

}  // namespace tethys
