// What lies beside a tokenizer.json in a Hugging Face folder: tokenizer_config.json may add tokens and names the one
// that ends a sequence; chat_template.jinja wins over the template within it; generation_config.json or, where there is
// none, config.json names the ids that end what the model says.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "data/tokenizer/bpe.h"

namespace tethys {

// In bytes; Qwen3's are of 11 MB.
inline constexpr uint64_t kLargestTokenizerFile = uint64_t{256} << 20;

class JsonPart;

struct TokenizerConfig {
  std::vector<AddedToken> added;    // by id
  std::string end_of_sequence;      // spelt out; empty if it is not named
  std::string chat_template;        // Jinja; empty if there is none
  std::vector<int32_t> stops = {};  // the ids that end what the model says; empty if none is named
};

// Of the files in `folder`; an empty config if there are none. UserError if one is not valid.
TokenizerConfig read_tokenizer_config(const Path& folder);

// An entry of either file.
AddedToken read_added_token(const JsonPart& part, int32_t id);

// Adds tokens, which come by id, to those that are there. UserError, opening with `where`, if they do not fit.
void add_tokens(Bpe& bpe, const std::vector<AddedToken>& added, std::string_view where);

}  // namespace tethys
