// The commands that the files of this folder define.
#pragma once

#include "tools/command.h"

namespace tethys {

extern const Command kTrainCommand;
extern const Command kGenerateCommand;
extern const Command kEvalCommand;
extern const Command kInspectCommand;
extern const Command kCheckpointVerifyCommand;
extern const Command kCheckpointListCommand;
extern const Command kCompileCommand;
extern const Command kConfigCommand;
extern const Command kConvertCommand;
extern const Command kDataCommand;
extern const Command kDoctorCommand;
extern const Command kReportCommand;
extern const Command kCompletionCommand;
extern const Command kTokenizerTrainCommand;
extern const Command kTokenizerEncodeCommand;
extern const Command kTokenizerDecodeCommand;

}  // namespace tethys
