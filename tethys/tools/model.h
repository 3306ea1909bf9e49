// What a command line names as a model: RUN | CHECKPOINT | HUGGING_FACE_FOLDER. Of a run the newest checkpoint is
// meant.
//
//   Checkpoint checkpoint = open_model(invocation, single_argument(invocation, kEvalCommand, "the model"));
#pragma once

#include <functional>

#include "base/file.h"
#include "checkpoint/store.h"
#include "config/option.h"

namespace tethys {

class Config;
struct Invocation;

// --recipe, which says what the model of a checkpoint is that is not inside of its run.
Option recipe_option();

// Whether the path is a Hugging Face folder. UserError if it is, and --recipe is given too.
bool names_hugging_face(const Config& config, const Path& path);

// Makes the configuration that of the model, and opens its weights. `adapt` may change the configuration before it is
// checked. UserError if the path is no model, or --recipe is missing or one too many.
Checkpoint open_model(Invocation& invocation, const Path& path, const std::function<void(Config&)>& adapt = {});

}  // namespace tethys
