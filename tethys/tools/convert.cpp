// tethys convert: between Hugging Face folders and Tethys' runs.
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/number.h"
#include "tools/commands.h"
#include "tools/model.h"
#include "train/hugging_face.h"

namespace tethys {
namespace {

std::vector<Option> options() {
  return with_training_options({
      text_option("output", "", "the folder to write; it is not there yet, or empty"),
      enum_option("dtype", "stored", {"stored", "float32", "bfloat16", "float16"}, "dtype of the weights"),
      text_option("max_shard_size", "5GB", "most bytes of weights in one file; KB, MB and GB are powers of ten"),
      recipe_option(),
  });
}

int64_t parse_size(const Config& config) {
  const std::string& text = config.get_string("max_shard_size");
  constexpr std::pair<std::string_view, int64_t> kUnits[] = {{"KB", 1'000}, {"MB", 1'000'000}, {"GB", 1'000'000'000}};
  std::string_view number = text;
  int64_t unit = 1;
  for (const auto& [name, bytes] : kUnits) {
    if (!number.ends_with(name)) continue;
    number.remove_suffix(name.size());
    unit = bytes;
    break;
  }
  const auto count = parse_number<int64_t>(number);
  if (!count || *count < 1 || *count > (int64_t{1} << 62) / unit) {
    user_error("{}: expected a number of bytes, such as 500MB or 5GB", config.cite("max_shard_size"));
  }
  return *count * unit;
}

std::optional<DType> dtype_of(const Config& config) {
  const std::string& dtype = config.get_string("dtype");
  return dtype == "stored" ? std::nullopt : std::optional(parse_dtype(dtype));
}

void to_hugging_face(Invocation& invocation, const Path& path, const Path& output) {
  Checkpoint checkpoint = open_model(invocation, path);
  const Config& config = invocation.config;
  const std::vector<std::string> left = export_hugging_face(
      checkpoint, config, output, {.dtype = dtype_of(config), .max_shard_size = parse_size(config)});
  const bool tokenizer = !config.get_string("data.tokenizer").empty();
  fmt::print(invocation.surroundings.out, "{}: a Hugging Face folder, from {}{}\n", output.string(),
             checkpoint.path().string(),
             tokenizer ? "" : "; it has no tokenizer, as the run names none: --data.tokenizer FILE");
  if (left.empty()) return;
  fmt::print(invocation.surroundings.out,
             "{} is not zero and has no place there: without it, tokens go to other experts than in training\n",
             fmt::join(left, ", "));
}

int run(Invocation& invocation) {
  const Path path = single_argument(invocation, kConvertCommand, "the folder");
  Config& config = invocation.config;
  const Path output = config.get_string("output");
  if (output.empty()) user_error("give the folder to write by --output FOLDER");
  if (!names_hugging_face(config, path)) {
    to_hugging_face(invocation, path, output);
    return 0;
  }
  import_hugging_face(path, config, output, dtype_of(config));
  fmt::print(invocation.surroundings.out,
             "{}: config.toml and a checkpoint, from {}\n"
             "train it further:  tethys train {} --output FOLDER …\n",
             output.string(), path.string(), (output / "config.toml").string());
  return 0;
}

}  // namespace

const Command kConvertCommand{
    "convert",
    "RUN | CHECKPOINT | HUGGING_FACE_FOLDER --output FOLDER [--dtype DTYPE] [--section.option VALUE]…",
    "turn a run into a Hugging Face folder, or such a folder into a run",
    "  tethys convert outputs/llama3_8b --output my-llama --dtype bfloat16           its newest checkpoint\n"
    "  tethys convert outputs/llama3_8b/checkpoint/step-00001000 --output my-llama   this one\n"
    "  tethys convert Llama-3.2-1B --output outputs/llama                            a folder with a config.json\n\n"
    "A Hugging Face folder has config.json, model.safetensors or shards of it with their index,\n"
    "generation_config.json and the tokenizer's files. The other way gives config.toml and a checkpoint of step 0\n"
    "with the weights alone, which `train` and `generate` take. One tensor at a time is in memory.\n"
    "`train HUGGING_FACE_FOLDER` needs no conversion.\n",
    options,
    run,
};

}  // namespace tethys
