// config.json of a Hugging Face folder, as the options of [model] and back.
#pragma once

#include <string>

#include "base/file.h"
#include "values/dtype.h"

namespace tethys {

class Config;
class Tokenizer;

// Whether a path given as a recipe is such a folder: it has a config.json.
bool is_hugging_face_folder(const Path& path);

// Sets the options of the model, and a row length that is no longer than its context, as a recipe would. UserError that
// names file and key: an architecture that Tethys has not, a key that is missing or has a value that it cannot compute.
void load_hugging_face_config(Config& config, const Path& folder);

// A recipe as load_recipe takes it; or such a folder, which stands for a run that starts from it: from its model, its
// weights, and its tokenizer. Gives the name.
std::string load_run_recipe(Config& config, const std::string& recipe_or_folder, const Path& recipes);

// The text of config.json for a model whose weights have this dtype. The tokenizer, if there is one, gives the ids of
// special tokens.
std::string hugging_face_config(const Config& config, DType dtype, const Tokenizer* tokenizer);

// The text of generation_config.json. Of a folder that has none: what its config.json says of the ids that begin and
// end a text.
std::string hugging_face_generation_config(const Tokenizer& tokenizer);
std::string hugging_face_generation_config(const Path& folder);

// The text of a tokenizer_config.json for a tokenizer.json that has none beside it.
std::string hugging_face_tokenizer_config(const Config& config, const Tokenizer& tokenizer);

}  // namespace tethys
