// StopTexts: ends a text before the first of some texts that appears in it, as it comes piece by piece. What may be the
// beginning of one is held back until it is decided.
//
//   StopTexts stops({"\n\n"});
//   print(stops.push(piece));
//   if (stops.found()) …             // nothing follows
//   print(stops.rest());             // at the end, if none was found
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tethys {

class StopTexts {
 public:
  // None of them empty.
  explicit StopTexts(std::vector<std::string> texts);

  // What of the text is certain by now, and was not given before.
  std::string push(std::string_view piece);
  bool found() const { return found_; }
  // What was held back.
  std::string rest();

 private:
  std::vector<std::string> texts_;
  std::string waiting_;
  bool found_ = false;
};

}  // namespace tethys
