#include "tools/model.h"

#include "base/error.h"
#include "config/config.h"
#include "config/recipe.h"
#include "tools/command.h"
#include "tools/locations.h"
#include "train/hugging_face.h"
#include "train/hugging_face_config.h"
#include "train/run_folder.h"

namespace tethys {
namespace {

void load_recipe_of(Config& config, const Path& path, const Path& executable) {
  const std::string& recipe = config.get_string("recipe");
  if (!recipe.empty()) {
    load_recipe(config, recipe, recipes_folder(executable));
    return;
  }
  const std::optional<Path> left = run_config_of(path);
  if (!left) {
    user_error(
        "{} is neither a run or a checkpoint of one (there is no config.toml) nor a Hugging Face folder (there is no "
        "config.json); for a checkpoint alone give --recipe RECIPE",
        path.string());
  }
  load_run_config(config, *left);
}

}  // namespace

Option recipe_option() {
  return text_option("recipe", "", "recipe of the model; empty: the config.toml of the run that the checkpoint is of");
}

bool names_hugging_face(const Config& config, const Path& path) {
  if (!is_hugging_face_folder(path)) return false;
  if (config.get_string("recipe").empty()) return true;
  user_error("{}: {} is a Hugging Face folder, which brings its own", config.cite("recipe"), path.string());
}

Checkpoint open_model(Invocation& invocation, const Path& path, const std::function<void(Config&)>& adapt) {
  Config& config = invocation.config;
  const bool hugging_face = names_hugging_face(config, path);
  if (hugging_face) {
    load_run_recipe(config, path, {});
  } else {
    load_recipe_of(config, path, invocation.surroundings.executable);
  }
  if (adapt) adapt(config);
  check_config(config);
  return hugging_face ? open_hugging_face(path, config) : open_checkpoint_of(path);
}

}  // namespace tethys
