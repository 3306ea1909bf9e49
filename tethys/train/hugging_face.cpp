#include "train/hugging_face.h"

#include <algorithm>
#include <functional>
#include <set>

#include "base/atomic_folder.h"
#include "base/error.h"
#include "base/glob.h"
#include "checkpoint/convert.h"
#include "checkpoint/hugging_face.h"
#include "config/config.h"
#include "config/describe.h"
#include "data/tokenizer/tokenizer.h"
#include "models/registry.h"
#include "train/corpus.h"
#include "train/hugging_face_config.h"
#include "train/run_folder.h"

namespace tethys {
namespace {

constexpr const char* kTokenizer = "tokenizer.json";
constexpr const char* kTokenizerConfig = "tokenizer_config.json";
constexpr const char* kGenerationConfig = "generation_config.json";
// What may lie beside a tokenizer.json and belongs to it.
constexpr const char* kBeside[] = {kTokenizerConfig, "special_tokens_map.json", "chat_template.jinja",
                                   kGenerationConfig};

bool is_file(const Path& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

// A parameter of the model.
struct Named {
  std::string ours;
  std::string theirs;
  Dims dims;
};

// In the order of the model, without what is not trained, which is not in a Hugging Face folder.
std::vector<Named> parameters_of(const Config& config) {
  const Architecture& architecture = architecture_of(config);
  std::vector<Named> all;
  architecture.configure(config)->build()->for_each_parameter([&](Parameter& parameter) {
    if (!parameter.trained()) return;
    const std::string& name = parameter.name();
    all.push_back({name, hugging_face_name(architecture.hugging_face(), name), parameter.dims()});
  });
  return all;
}

std::set<std::string> untrained_of(const Config& config) {
  std::set<std::string> names;
  architecture_of(config).configure(config)->build()->for_each_parameter([&](Parameter& p) {
    if (!p.trained()) names.insert(p.name());
  });
  return names;
}

bool matches(const std::vector<std::string>& globs, const std::string& name) {
  return std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) { return glob_match(glob, name); });
}

// The types that `names` should have, in any dtype that can be converted.
void require_shapes(const Manifest& manifest, const std::map<std::string, Dims>& names, const Path& where) {
  std::map<std::string, TensorType> expected;
  for (const auto& [name, dims] : names) {
    const auto found = manifest.tensors.find(name);
    const bool fits = found != manifest.tensors.end() && is_convertible(found->second.type.dtype);
    expected[name] = {fits ? found->second.type.dtype : DType::F32, dims};
  }
  require_tensors(manifest, expected, where.string());
}

// A tensor of a checkpoint in another dtype. It is read in runs of rows, so that no second copy of it is there.
void read_in(DType dtype, Checkpoint& checkpoint, const std::string& name, std::span<std::byte> out) {
  constexpr int64_t kAtOnce = int64_t{1} << 23;
  const TensorType type = checkpoint.manifest().tensors.at(name).type;
  Window window = whole(type.dims);
  const int64_t rows = type.dims.empty() ? 1 : type.dims[0];
  const int64_t row = rows == 0 ? 0 : type.elements() / rows;
  const int64_t step =
      std::max<int64_t>(1, kAtOnce / std::max<int64_t>(1, row * static_cast<int64_t>(size_of(type.dtype))));
  for (int64_t begin = 0; begin < rows; begin += step) {
    const int64_t count = std::min(step, rows - begin);
    if (!type.dims.empty()) {
      window.offset[0] = begin;
      window.extent[0] = count;
    }
    const std::span<std::byte> part = out.subspan(static_cast<size_t>(begin * row) * size_of(dtype),
                                                  static_cast<size_t>(count * row) * size_of(dtype));
    if (type.dtype == dtype) {
      checkpoint.read(name, window, part);
    } else {
      convert(type.dtype, checkpoint.read(name, window).bytes(), dtype, part);
    }
  }
}

void copy_whole(const Path& from, const Path& to) { write_file(to, read_file(from)); }

void copy_beside(const Path& from, const AtomicFolder& to) {
  for (const char* name : kBeside) {
    if (is_file(from / name)) copy_whole(from / name, to / name);
  }
}

void write_tokenizer(const Config& config, const Tokenizer& tokenizer, const AtomicFolder& folder) {
  const Path from = config.get_string("data.tokenizer");
  copy_whole(from, folder / kTokenizer);
  copy_beside(from.parent_path(), folder);
  if (!is_file(folder / kTokenizerConfig)) {
    write_file(folder / kTokenizerConfig, hugging_face_tokenizer_config(config, tokenizer));
  }
  if (!is_file(folder / kGenerationConfig)) {
    write_file(folder / kGenerationConfig, hugging_face_generation_config(tokenizer));
  }
}

DType widest(const Checkpoint& checkpoint, const std::vector<Named>& parameters) {
  DType dtype = checkpoint.manifest().tensors.at(parameters.at(0).ours).type.dtype;
  for (const Named& p : parameters) dtype = promote(dtype, checkpoint.manifest().tensors.at(p.ours).type.dtype);
  return dtype;
}

}  // namespace

Checkpoint open_hugging_face(const Path& folder, const Config& config, const std::vector<std::string>& excluded) {
  const HuggingFaceModel& model = architecture_of(config).hugging_face();
  const Manifest theirs = read_hugging_face(folder);
  Manifest checked = theirs;
  std::erase_if(checked.tensors, [&](const auto& tensor) { return matches(model.ignored, tensor.first); });
  if (config.get_bool("model.tie_embeddings") && checked.tensors.contains(model.tied.theirs) &&
      checked.tensors.contains(model.tied.ours)) {
    require_equal_tensors(folder, checked, model.tied.ours, model.tied.theirs);
    checked.tensors.erase(model.tied.theirs);
  }
  Manifest ours;
  ours.files = theirs.files;
  std::map<std::string, Dims> expected;
  std::map<std::string, std::string> names;
  for (const Named& parameter : parameters_of(config)) {
    const auto found = checked.tensors.find(parameter.theirs);
    names[parameter.ours] = parameter.theirs;
    if (found != checked.tensors.end()) ours.tensors[parameter.ours] = found->second;
    if (!matches(excluded, parameter.ours)) {
      expected[parameter.theirs] = parameter.dims;
    } else if (found != checked.tensors.end()) {
      checked.tensors.erase(found);
    }
  }
  require_shapes(checked, expected, folder);
  return Checkpoint(folder, std::move(ours), std::move(names));
}

Checkpoint open_initial_weights(const Config& config) {
  const std::string& path = config.get_string("checkpoint.initial_load_path");
  if (config.get_bool("checkpoint.initial_load_in_hf")) {
    return open_hugging_face(path, config, config.get_strings("checkpoint.exclude_from_loading"));
  }
  if (is_hugging_face_folder(path)) {
    user_error("{} is a Hugging Face folder; give --checkpoint.initial_load_in_hf too",
               config.cite("checkpoint.initial_load_path"));
  }
  return open_checkpoint_of(path);
}

void export_hugging_face(Checkpoint& checkpoint, const Config& config, const Path& output,
                         const ExportOptions& options) {
  const std::vector<Named> parameters = parameters_of(config);
  std::map<std::string, Dims> expected;
  for (const Named& p : parameters) expected[p.ours] = p.dims;
  Manifest weights = checkpoint.manifest();
  const std::set<std::string> untrained = untrained_of(config);
  std::erase_if(weights.tensors, [&](const auto& tensor) {
    return tensor.first.starts_with("optimizer.") || untrained.contains(tensor.first);
  });
  require_shapes(weights, expected, checkpoint.path());
  std::optional<Tokenizer> tokenizer;
  if (!config.get_string("data.tokenizer").empty()) tokenizer.emplace(load_tokenizer(config));

  const DType dtype = options.dtype.value_or(widest(checkpoint, parameters));
  std::vector<SafetensorsSource> sources;
  for (const Named& p : parameters) {
    sources.push_back({p.theirs, {dtype, p.dims}, [&checkpoint, dtype, name = p.ours](std::span<std::byte> out) {
                         read_in(dtype, checkpoint, name, out);
                       }});
  }
  AtomicFolder folder(output);
  write_hugging_face(folder.now(), sources, options.max_shard_size);
  if (tokenizer) write_tokenizer(config, *tokenizer, folder);
  write_file(folder / "config.json", hugging_face_config(config, dtype, tokenizer ? &*tokenizer : nullptr));
  folder.commit();
}

void import_hugging_face(const Path& from, Config& config, const Path& output, std::optional<DType> dtype) {
  load_hugging_face_config(config, from);
  check_config(config);
  Checkpoint weights = open_hugging_face(from, config);
  AtomicFolder folder(output);
  std::vector<PieceSource> pieces;
  for (const auto& [name, tensor] : weights.manifest().tensors) {
    const TensorType type = tensor.type.with_dtype(dtype.value_or(tensor.type.dtype));
    pieces.push_back({name, type, whole(type.dims), [&weights, type, name = name](std::span<std::byte> out) {
                        read_in(type.dtype, weights, name, out);
                      }});
  }
  CheckpointStore(folder / "checkpoint").save({}, pieces, 0);
  const Origin origin{Origin::Source::Recipe, from.string()};
  config.set("checkpoint.initial_load_path", folder.path().string(), origin);
  copy_beside(from, folder);
  if (!is_file(from / kGenerationConfig)) {
    write_file(folder / kGenerationConfig, hugging_face_generation_config(from));
  }
  if (is_file(from / kTokenizer)) {
    copy_whole(from / kTokenizer, folder / kTokenizer);
    config.set("data.tokenizer", (folder.path() / kTokenizer).string(), origin);
  }
  write_file(folder / "config.toml", config_toml(config));
  folder.commit();
}

}  // namespace tethys
