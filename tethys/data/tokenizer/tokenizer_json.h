// tokenizer.json, the file of Hugging Face's tokenizers, read and written. What our trainer writes is read back, and
// so is any file that says the same; anything else is a UserError that names the part which is not supported.
#pragma once

#include <string>
#include <string_view>

#include "data/tokenizer/bpe.h"

namespace tethys {

std::string write_tokenizer_json(const Bpe& bpe);

// `where` names the text in errors: the path.
Bpe parse_tokenizer_json(std::string_view text, std::string_view where);

}  // namespace tethys
