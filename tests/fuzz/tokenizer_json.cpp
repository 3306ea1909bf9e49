#include "data/tokenizer/tokenizer_json.h"

#include <string>

#include "data/tokenizer/tokenizer.h"
#include "tests/fuzz/fuzz.h"

// A tokenizer that is taken encodes any text into its own ids, and decodes them.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tethys;
  return fuzz({data, size}, [](std::string_view content) {
    const Tokenizer tokenizer(parse_tokenizer_json(content, "tokenizer.json"));
    for (const std::string_view text :
         {std::string_view("the word, 12 and\n\tthe\0rest", 26), content.substr(0, 256)}) {
      const std::vector<int32_t> ids = tokenizer.encode(text);
      for (const int32_t id : ids) require(id >= 0 && id < tokenizer.vocab_size(), "id {} outside", id);
      tokenizer.decode(ids);
    }
  });
}
