#include "train/hugging_face.h"

#include <algorithm>
#include <functional>

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

// A parameter of the model, and the tensors there that it is: none, if it is not trained.
struct Named {
  std::string ours;
  Dims dims;
  HuggingFaceTensors theirs;

  bool is_there() const { return !theirs.names.empty(); }
  bool is_stacked() const { return theirs.dims != dims; }
};

// In the order of the model.
std::vector<Named> parameters_of(const Config& config) {
  const Architecture& architecture = architecture_of(config);
  std::vector<Named> all;
  architecture.configure(config)->build()->for_each_parameter([&](Parameter& p) {
    Named& named = all.emplace_back(Named{p.name(), p.dims(), {}});
    if (p.trained()) named.theirs = hugging_face_tensors(architecture.hugging_face(), named.ours, named.dims);
  });
  return all;
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

// A window of a tensor of a checkpoint in another dtype. It is read in small parts, so that no second copy of it is
// there.
void read_in(DType dtype, Checkpoint& checkpoint, const std::string& name, const Window& window,
             std::span<std::byte> out) {
  constexpr int64_t kAtOnce = int64_t{1} << 23;
  const DType stored = checkpoint.manifest().tensors.at(name).type.dtype;
  const auto cut = std::find_if(window.extent.begin(), window.extent.end(), [](int64_t size) { return size > 1; });
  if (cut == window.extent.end() || window.elements() * static_cast<int64_t>(size_of(stored)) <= kAtOnce) {
    if (stored == dtype) return checkpoint.read(name, window, out);
    return convert(stored, checkpoint.read(name, window).bytes(), dtype, out);
  }
  const auto dim = static_cast<size_t>(cut - window.extent.begin());
  Window first = window, second = window;
  first.extent[dim] = window.extent[dim] / 2;
  second.offset[dim] += first.extent[dim];
  second.extent[dim] -= first.extent[dim];
  const size_t middle = static_cast<size_t>(first.elements()) * size_of(dtype);
  read_in(dtype, checkpoint, name, first, out.first(middle));
  read_in(dtype, checkpoint, name, second, out.subspan(middle));
}

// The parts of a parameter of a checkpoint that are tensors of their own there.
void append_sources(std::vector<SafetensorsSource>& sources, const Named& parameter, DType dtype,
                    Checkpoint& checkpoint) {
  for (size_t i = 0; i < parameter.theirs.names.size(); ++i) {
    Window window = whole(parameter.dims);
    if (parameter.is_stacked()) {
      window.offset[0] = static_cast<int64_t>(i);
      window.extent[0] = 1;
    }
    sources.push_back({parameter.theirs.names[i],
                       {dtype, parameter.theirs.dims},
                       [&checkpoint, dtype, name = parameter.ours, window](std::span<std::byte> out) {
                         read_in(dtype, checkpoint, name, window, out);
                       }});
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
  for (const Named& p : parameters) {
    if (p.is_there()) dtype = promote(dtype, checkpoint.manifest().tensors.at(p.ours).type.dtype);
  }
  return dtype;
}

std::vector<std::string> left_behind(Checkpoint& checkpoint, const std::vector<Named>& parameters) {
  std::vector<std::string> names;
  for (const Named& p : parameters) {
    if (p.is_there() || !checkpoint.manifest().tensors.contains(p.ours)) continue;
    const std::vector<double> values = checkpoint.read(p.ours).to_doubles();
    const std::string name = with_stars(p.ours);
    if (std::all_of(values.begin(), values.end(), [](double value) { return value == 0; })) continue;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

}  // namespace

Checkpoint open_hugging_face(const Path& folder, const Config& config, const std::vector<std::string>& excluded) {
  const HuggingFaceModel& model = architecture_of(config).hugging_face();
  Manifest theirs = read_hugging_face(folder);
  std::erase_if(theirs.tensors, [&](const auto& tensor) { return matches(model.ignored, tensor.first); });
  if (config.get_bool("model.tie_embeddings") && theirs.tensors.contains(model.tied.theirs) &&
      theirs.tensors.contains(model.tied.ours)) {
    require_equal_tensors(folder, theirs, model.tied.ours, model.tied.theirs);
    theirs.tensors.erase(model.tied.theirs);
  }
  const std::vector<Named> parameters = parameters_of(config);
  const auto is_left_out = [&](const Named& parameter) { return matches(excluded, parameter.ours); };
  std::map<std::string, Dims> expected;
  for (const Named& parameter : parameters) {
    for (const std::string& name : parameter.theirs.names) {
      if (is_left_out(parameter)) {
        theirs.tensors.erase(name);
      } else {
        expected[name] = parameter.theirs.dims;
      }
    }
  }
  require_shapes(theirs, expected, folder);
  Manifest ours;
  ours.files = theirs.files;
  for (const Named& parameter : parameters) {
    if (!parameter.is_there() || is_left_out(parameter)) continue;
    const std::vector<std::string>& names = parameter.theirs.names;
    ours.tensors[parameter.ours] =
        parameter.is_stacked() ? stacked(folder, theirs, names) : theirs.tensors.at(names.front());
  }
  return Checkpoint(folder, std::move(ours));
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

std::vector<std::string> export_hugging_face(Checkpoint& checkpoint, const Config& config, const Path& output,
                                             const ExportOptions& options) {
  const std::vector<Named> parameters = parameters_of(config);
  std::map<std::string, Dims> expected;
  Manifest weights = checkpoint.manifest();
  std::erase_if(weights.tensors, [](const auto& tensor) { return tensor.first.starts_with("optimizer."); });
  for (const Named& p : parameters) {
    if (p.is_there()) {
      expected[p.ours] = p.dims;
    } else {
      weights.tensors.erase(p.ours);
    }
  }
  require_shapes(weights, expected, checkpoint.path());
  std::optional<Tokenizer> tokenizer;
  if (!config.get_string("data.tokenizer").empty()) tokenizer.emplace(load_tokenizer(config));

  const DType dtype = options.dtype.value_or(widest(checkpoint, parameters));
  std::vector<SafetensorsSource> sources;
  for (const Named& p : parameters) append_sources(sources, p, dtype, checkpoint);
  AtomicFolder folder(output);
  write_hugging_face(folder.now(), sources, options.max_shard_size);
  if (tokenizer) write_tokenizer(config, *tokenizer, folder);
  write_file(folder / "config.json", hugging_face_config(config, dtype, tokenizer ? &*tokenizer : nullptr));
  folder.commit();
  return left_behind(checkpoint, parameters);
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
                        read_in(type.dtype, weights, name, whole(type.dims), out);
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
