#include "data/sources/json_lines.h"

#include <algorithm>
#include <cstring>

#include "tests/fuzz/fuzz.h"

namespace tethys {
namespace {

// Gives what it holds in pieces of uneven sizes.
class Memory : public ByteSource {
 public:
  explicit Memory(std::string_view content) : content_(content) {}
  size_t read(std::span<char> out) override {
    const size_t size = std::min({out.size(), content_.size() - at_, 1 + at_ % 7});
    std::memcpy(out.data(), content_.data() + at_, size);
    at_ += size;
    return size;
  }
  int64_t position() const override { return static_cast<int64_t>(at_); }

 private:
  std::string_view content_;
  size_t at_ = 0;
};

}  // namespace
}  // namespace tethys

// Lines come in order and no longer than they may be, and a bad one is skipped where that is asked for.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tethys;
  constexpr size_t kLongest = 64;
  return fuzz({data, size}, [](std::string_view content) {
    JsonLines lines(std::make_unique<Memory>(content), kLongest);
    const LineOptions skipping{.skip_bad_lines = true};
    int64_t number = 0;
    for (Line line; lines.next(line);) {
      require(line.number > number, "line {} after line {}", line.number, number);
      require(line.text.size() <= kLongest, "a line of {} bytes", line.text.size());
      number = line.number;
      const auto text = document_in(line, "a.jsonl", skipping);
      require(!text || line.wrong.empty(), "a line that was cut gave a text");
    }
  });
}
