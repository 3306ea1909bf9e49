// tokenizer.json, the file of Hugging Face's tokenizers, read and written: any byte-level BPE whose split patterns
// splitter.h knows. Anything else is a UserError that names the part which is not valid or not supported.
#pragma once

#include <string>
#include <string_view>

#include "data/tokenizer/bpe.h"

namespace tethys {

std::string write_tokenizer_json(const Bpe& bpe);

// `where` names the text in errors: the path.
Bpe parse_tokenizer_json(std::string_view text, std::string_view where);

}  // namespace tethys
