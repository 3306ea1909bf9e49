// Command: a subcommand of `tethys` as a plain value. Each file of this folder defines one (or a few that belong
// together); main.cpp holds the table of them. A command prints what it has to say to `out` and throws for the rest.
//
//   extern const Command kConfigCommand;
//   run_program({&kConfigCommand}, {"config", "llama3_8b"}, surroundings);
#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "config/config.h"

namespace tethys {

// What a command may know of the process it runs in: only main.cpp asks the system for it.
struct Surroundings {
  std::string version;  // of the program
  Path executable;
  Path cache_folder;                     // where what can be made again is kept
  std::string xla_flags;                 // what XLA reads of the environment
  std::istream& in;                      // standard input
  bool is_typed;                         // it is a terminal
  std::ostream& out;                     // standard output
  std::optional<int> width;              // of the terminal that it is; nothing if it is none
  std::function<bool()> reader_is_gone;  // whether it is a pipe that nobody reads any more
};

struct Command;
using Commands = std::vector<const Command*>;

struct Invocation {
  Config config;                       // with the flags set
  std::vector<std::string> arguments;  // what was no flag
  const Surroundings& surroundings;
  const Commands& commands;  // all of the program
};

struct Command {
  std::string_view name;     // "train"; two words for one of a family: "tokenizer train"
  std::string_view usage;    // what follows the name: "RECIPE [--section.option VALUE]…"
  std::string_view summary;  // one line
  std::string_view detail;   // examples first; ends with a newline
  std::vector<Option> (*options)();
  int (*run)(Invocation& invocation);  // gives the exit status
  bool prints_result = true;           // what it prints is what it is for: a reader that goes away makes it a failure
};

// The command whose name the arguments begin with, and how many of them are its name; null if there is none.
struct NamedCommand {
  const Command* command = nullptr;
  size_t words = 0;
};
NamedCommand find_command(const Commands& commands, const std::vector<std::string>& arguments);

// The commands of the family that a word names: those of "tokenizer".
Commands family_of(const Commands& commands, const std::string& name);

// A command's own options, and that for its help.
std::vector<Option> options_of(const Command& command);

// Runs the command that the arguments name, or prints the help that they ask for. UserError if there is no such one;
// DiskError if its result could not be printed as a whole.
int run_program(const Commands& commands, const std::vector<std::string>& arguments, const Surroundings& surroundings);

// The one argument that a command takes. UserError, which shows the usage, if there is none or more than one.
const std::string& single_argument(const Invocation& invocation, const Command& command, std::string_view what);

}  // namespace tethys
