#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <ostream>

#include "base/error.h"
#include "base/nearest.h"
#include "config/describe.h"
#include "config/flags.h"
#include "tools/command.h"
#include "tools/version.h"

namespace tethys {
namespace {

bool asks_for_help(std::string_view argument) { return argument == "--help" || argument == "-h" || argument == "help"; }

std::string list_of(const Commands& commands) {
  std::string text = "commands:\n";
  size_t width = 0;
  for (const Command* command : commands) width = std::max(width, command->name.size());
  for (const Command* command : commands) {
    text += fmt::format("  {:<{}}  {}\n", command->name, width, command->summary);
  }
  return text;
}

std::string overview(const Commands& commands) {
  return "usage: tethys COMMAND …\n\n"
         "  tethys train llama3_debugmodel --data.text 'books/*.txt' --data.tokenizer tokenizer.json\n"
         "  tethys generate outputs/llama3_debugmodel --prompt 'Once upon a time'\n\n" +
         list_of(commands) +
         "\n`tethys COMMAND --help` shows examples and options, `tethys --version` which program this is.\n";
}

std::string overview_of(const std::string& name, const Commands& family) {
  return fmt::format("usage: tethys {0} COMMAND …\n\n{1}\n`tethys {0} COMMAND --help` shows examples and options.\n",
                     name, list_of(family));
}

// How many of the arguments are the command's name; 0 if they are not.
size_t words_matched(const Command& command, const std::vector<std::string>& arguments) {
  const size_t space = command.name.find(' ');
  if (arguments.empty() || command.name.substr(0, space) != arguments[0]) return 0;
  if (space == std::string_view::npos) return 1;
  return arguments.size() > 1 && command.name.substr(space + 1) == arguments[1] ? 2 : 0;
}

[[noreturn]] void unknown_command(const Commands& commands, const std::vector<std::string>& arguments, size_t words) {
  std::vector<std::string> names;
  for (const Command* command : commands) names.emplace_back(command->name);
  const std::string given = words > 1 && arguments.size() > 1 ? arguments[0] + " " + arguments[1] : arguments[0];
  user_error("there is no command '{}'; the nearest is `tethys {}`, and `tethys --help` lists all", given,
             nearest_name(given, names));
}

void flush_result(std::ostream& out) {
  out.flush();
  if (!out) throw DiskError("cannot write all of the standard output: its disk is full, or it is closed");
}

void print_result(std::ostream& out, const std::string& text) {
  fmt::print(out, "{}", text);
  flush_result(out);
}

// What is asked for after --help: "all", a section of the options, or nothing. The help of a command with a few options
// has them all.
std::string part_of_help(const std::vector<Option>& options, const std::string& word) {
  constexpr size_t kFew = 30;
  const bool is_section = std::any_of(options.begin(), options.end(), [&](const Option& option) {
    return !word.empty() && section_of(option) == word;
  });
  if (is_section) return word;
  return word == "all" || options.size() <= kFew ? "all" : "";
}

std::string help_of(const Command& command, const std::vector<Option>& options, const std::string& word) {
  const bool has_switch = std::any_of(options.begin(), options.end(), [](const Option& option) {
    return option.type == OptionType::Bool && option.name != "help";
  });
  std::string summary = fmt::format("{}.\n\n{}", command.summary, command.detail);
  if (has_switch) summary += "\nAn option that is true or false takes no value: --NAME, --no-NAME.";
  return help_text(fmt::format("tethys {} {}", command.name, command.usage), summary, options,
                   part_of_help(options, word));
}

int run_command(const Command& command, std::vector<std::string> arguments, const Surroundings& surroundings,
                const Commands& commands) {
  Config config(options_of(command));
  // Help is given whatever else stands there.
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  const auto help =
      std::find_if(arguments.begin(), end, [](const std::string& a) { return a == "--help" || a == "-h"; });
  if (help != end) {
    print_result(surroundings.out, help_of(command, config.options(), help + 1 == end ? "" : *(help + 1)));
    return 0;
  }
  std::vector<std::string> rest = apply_flags(config, arguments);
  Invocation invocation{std::move(config), std::move(rest), surroundings, commands};
  const int status = command.run(invocation);
  if (command.prints_result || (status == 0 && !surroundings.reader_is_gone())) flush_result(surroundings.out);
  return status;
}

}  // namespace

NamedCommand find_command(const Commands& commands, const std::vector<std::string>& arguments) {
  for (const Command* command : commands) {
    if (const size_t words = words_matched(*command, arguments); words > 0) return {command, words};
  }
  return {};
}

Commands family_of(const Commands& commands, const std::string& name) {
  Commands family;
  for (const Command* command : commands) {
    if (command->name.starts_with(name + " ")) family.push_back(command);
  }
  return family;
}

std::vector<Option> options_of(const Command& command) {
  std::vector<Option> options = command.options();
  Option help = bool_option("help", false, "show this text; --help all: every option of the configuration too");
  help.alias = std::string("h");  // g++ 12 warns of an assigned literal
  options.insert(options.begin(), std::move(help));
  return options;
}

int run_program(const Commands& commands, const std::vector<std::string>& arguments, const Surroundings& surroundings) {
  if (arguments.empty() || asks_for_help(arguments[0])) {
    print_result(surroundings.out, overview(commands));
    return 0;
  }
  if (arguments[0] == "--version" || arguments[0] == "version") {
    print_result(surroundings.out, version_text(surroundings));
    return 0;
  }
  if (const auto [command, words] = find_command(commands, arguments); command != nullptr) {
    return run_command(*command, {arguments.begin() + static_cast<std::ptrdiff_t>(words), arguments.end()},
                       surroundings, commands);
  }
  const Commands family = family_of(commands, arguments[0]);
  if (!family.empty() && (arguments.size() == 1 || asks_for_help(arguments[1]))) {
    print_result(surroundings.out, overview_of(arguments[0], family));
    return 0;
  }
  unknown_command(commands, arguments, family.empty() ? 1 : 2);
}

const std::string& single_argument(const Invocation& invocation, const Command& command, std::string_view what) {
  const std::vector<std::string>& given = invocation.arguments;
  if (given.empty()) user_error("{} is missing; usage: tethys {} {}", what, command.name, command.usage);
  if (given.size() > 1) {
    user_error("'{}' is one argument too many; usage: tethys {} {}", given[1], command.name, command.usage);
  }
  if (given[0].empty()) {
    user_error("{} is an empty argument (''); usage: tethys {} {}", what, command.name, command.usage);
  }
  return given[0];
}

}  // namespace tethys
