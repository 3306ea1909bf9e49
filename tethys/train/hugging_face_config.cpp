#include "train/hugging_face_config.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "checkpoint/json.h"
#include "config/config.h"
#include "config/recipe.h"
#include "data/tokenizer/tokenizer.h"
#include "models/registry.h"

namespace tethys {
namespace {

using nlohmann::json;

constexpr const char* kConfig = "config.json";
constexpr uint64_t kMostBytes = uint64_t{16} << 20;

// The keys of the scaling of Llama 3.1, and their options.
constexpr std::pair<const char*, const char*> kScaling[] = {
    {"factor", "model.rope_scaling_factor"},
    {"low_freq_factor", "model.rope_scaling_low"},
    {"high_freq_factor", "model.rope_scaling_high"},
    {"original_max_position_embeddings", "model.rope_scaling_original_length"},
};

// A key that is there and not null.
const json* find(const json& object, const std::string& key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

// Reads one config.json into a Config.
class Reader {
 public:
  Reader(Config& config, const Path& path)
      : config_(config), where_(path.string()), root_(parse_json(read_file(path, kMostBytes), where_)) {
    if (!root_.is_object()) user_error("{}: expected an object, got {}", where_, root_.type_name());
  }

  void read() {
    const Architecture& architecture = find_by_model_type();
    const HuggingFaceModel& model = architecture.hugging_face();
    set("model_type", "model.name", std::string(architecture.name));
    for (const HuggingFaceConstant& constant : model.constants) check(constant);
    if (find(root_, "quantization_config") != nullptr) {
      user_error("{}: quantization_config: quantised weights are not read; take the folder of the full weights",
                 where_);
    }
    for (const HuggingFaceKey& key : model.keys) read_key(key);
    read_rope();
    const int64_t context = config_.get_int("model.context_length");
    if (config_.get_int("training.seq_len") > context) set("max_position_embeddings", "training.seq_len", context);
  }

 private:
  const Architecture& find_by_model_type() const {
    const std::string type = string_member(root_, "model_type", where_);
    std::string known;
    for (const Architecture& architecture : architectures()) {
      if (architecture.hugging_face().model_type == type) return architecture;
      known += (known.empty() ? "" : ", ") + architecture.hugging_face().model_type;
    }
    user_error("{}: model_type is \"{}\", and the models that Tethys has are: {}", where_, type, known);
  }

  void check(const HuggingFaceConstant& constant) const {
    const json* value = find(root_, constant.key);
    if (value == nullptr && constant.absent.empty()) return;
    if (value == nullptr) {
      user_error("{}: {} is missing, which stands for {}, and only {} is supported", where_, constant.key,
                 constant.absent, constant.json);
    }
    if (*value == json::parse(constant.json)) return;
    user_error("{}: {} is {}, and only {} is supported", where_, constant.key, value->dump(), constant.json);
  }

  void read_key(const HuggingFaceKey& key) {
    const json* own = find(root_, key.key);
    if (own != nullptr) return read_value(*own, key.key, key.option);
    const json* other = key.like.empty() ? nullptr : find(root_, key.like);
    if (other != nullptr) return read_value(*other, key.like, key.option);
    if (!key.absent) user_error("{}: \"{}\" is missing", where_, key.key);
    set(key.key, key.option, *key.absent);
  }

  void read_value(const json& value, const std::string& key, const std::string& option) {
    const Option* found = config_.find(option);
    require(found != nullptr, "no option {}", option);
    if (found->type == OptionType::Bool && value.is_boolean()) return set(key, option, value.get<bool>());
    if (found->type == OptionType::Float && value.is_number()) return set(key, option, value.get<double>());
    if (found->type == OptionType::Int && value.is_number_integer()) {
      return set(key, option, as_int(value));
    }
    user_error("{}: {} is {}, expected {}", where_, key, value.dump(), expected_by(*found));
  }

  // One that does not fit is too large for any option.
  static int64_t as_int(const json& value) {
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    return value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(kMost) ? kMost
                                                                                              : value.get<int64_t>();
  }

  void set(const std::string& key, const std::string& option, OptionValue value) {
    config_.set(option, std::move(value), {Origin::Source::Recipe, fmt::format("{}: {}", where_, key)});
  }

  // theta stands beside the scaling or, in files of transformers 5, within it.
  void read_rope() {
    const json* scaling = find(root_, "rope_parameters");
    if (scaling == nullptr) scaling = find(root_, "rope_scaling");
    if (scaling != nullptr && !scaling->is_object()) {
      user_error("{}: the scaling of rotary positions is {}, expected an object", where_, scaling->dump());
    }
    const json* theta = scaling == nullptr ? nullptr : find(*scaling, "rope_theta");
    if (theta == nullptr) theta = find(root_, "rope_theta");
    theta == nullptr ? set("rope_theta", "model.rope_theta", 10000.0)
                     : read_value(*theta, "rope_theta", "model.rope_theta");
    set("rope_scaling", "model.rope_scaling_factor", 1.0);
    if (scaling == nullptr) return;
    const json* type = find(*scaling, "rope_type");
    if (type == nullptr) type = find(*scaling, "type");
    if (type == nullptr || *type == "default") return;
    if (*type != "llama3") {
      user_error("{}: rope_type is {}, and only \"llama3\" and \"default\" are supported", where_, type->dump());
    }
    for (const auto& [key, option] : kScaling) read_value(member(*scaling, key, where_), key, option);
  }

  Config& config_;
  std::string where_;
  json root_;
};

std::string torch_name(DType dtype) {
  switch (dtype) {
    case DType::F16: return "float16";
    case DType::BF16: return "bfloat16";
    case DType::F32: return "float32";
    case DType::F64: return "float64";
    default: internal_error("weights of dtype {}", name_of(dtype));
  }
}

json to_json(const OptionValue& value) {
  return std::visit([](const auto& held) { return json(held); }, value);
}

std::string text_of(const json& value) { return value.dump(2) + "\n"; }

std::optional<int32_t> begin_of_text(const Tokenizer& tokenizer) {
  if (!tokenizer.bpe().prefix.empty()) return tokenizer.bpe().prefix.front();
  return tokenizer.special("<|begin_of_text|>");
}

void add_ids(json& object, const Tokenizer& tokenizer) {
  const std::optional<int32_t> begin = begin_of_text(tokenizer);
  object["bos_token_id"] = begin ? json(*begin) : json(nullptr);
  const std::vector<int32_t> stops = tokenizer.stops();
  object["eos_token_id"] = stops.size() == 1 ? json(stops[0]) : json(stops);
}

}  // namespace

bool is_hugging_face_folder(const Path& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path / kConfig, ignored);
}

void load_hugging_face_config(Config& config, const Path& folder) { Reader(config, folder / kConfig).read(); }

std::string load_run_recipe(Config& config, const std::string& recipe_or_folder, const Path& recipes) {
  const Path folder = recipe_or_folder;
  if (!is_hugging_face_folder(folder)) return load_recipe(config, recipe_or_folder, recipes);
  load_hugging_face_config(config, folder);
  const Origin origin{Origin::Source::Recipe, folder.string()};
  config.set("checkpoint.initial_load_path", folder.string(), origin);
  config.set("checkpoint.initial_load_in_hf", true, origin);
  std::error_code ignored;
  const Path tokenizer = folder / "tokenizer.json";
  if (std::filesystem::is_regular_file(tokenizer, ignored)) config.set("data.tokenizer", tokenizer.string(), origin);
  return whole_path(folder).filename().string();
}

std::string hugging_face_config(const Config& config, DType dtype, const Tokenizer* tokenizer) {
  const HuggingFaceModel& model = architecture_of(config).hugging_face();
  json object = {{"architectures", {model.architecture}}, {"model_type", model.model_type}};
  object["torch_dtype"] = torch_name(dtype);
  object["use_cache"] = true;
  for (const HuggingFaceConstant& constant : model.constants) object[constant.key] = json::parse(constant.json);
  for (const HuggingFaceKey& key : model.keys) object[key.key] = to_json(config.value(key.option));
  object["head_dim"] = head_dim_of(config);  // a number also where the option leaves it open
  object["rope_theta"] = config.get_float("model.rope_theta");
  object["rope_scaling"] = nullptr;
  if (config.get_float("model.rope_scaling_factor") != 1) {
    json scaling = {{"rope_type", "llama3"}};
    for (const auto& [key, option] : kScaling) scaling[key] = to_json(config.value(option));
    object["rope_scaling"] = std::move(scaling);
  }
  if (tokenizer != nullptr) add_ids(object, *tokenizer);
  return text_of(object);
}

std::string hugging_face_generation_config(const Tokenizer& tokenizer) {
  json object = {{"_from_model_config", true}};
  add_ids(object, tokenizer);
  return text_of(object);
}

std::string hugging_face_generation_config(const Path& folder) {
  const Path file = folder / kConfig;
  const json config = parse_json(read_file(file, kMostBytes), file.string());
  json object = {{"_from_model_config", true}};
  for (const char* key : {"bos_token_id", "eos_token_id"}) {
    if (const json* value = find(config, key)) object[key] = *value;
  }
  return text_of(object);
}

std::string hugging_face_tokenizer_config(const Config& config, const Tokenizer& tokenizer) {
  json object = {{"tokenizer_class", "PreTrainedTokenizerFast"},
                 {"clean_up_tokenization_spaces", false},
                 {"model_max_length", config.get_int("model.context_length")},
                 {"eos_token", tokenizer.token(tokenizer.end_of_text())}};
  if (const auto begin = begin_of_text(tokenizer)) object["bos_token"] = tokenizer.token(*begin);
  if (!tokenizer.chat_template().empty()) object["chat_template"] = tokenizer.chat_template();
  return text_of(object);
}

}  // namespace tethys
