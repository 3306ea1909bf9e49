// tethys completion: scripts by which a shell completes command lines.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>

#include "base/error.h"
#include "config/recipe.h"
#include "tools/commands.h"
#include "tools/completions.h"
#include "tools/locations.h"

namespace tethys {
namespace {

// Each asks the program that stands in the command line; where that has no candidates, files are completed.

constexpr std::string_view kBash = R"(_tethys() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("${line%%$'\t'*}")
  done < <("${COMP_WORDS[0]/#\~/$HOME}" completion candidates -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _tethys tethys
)";

constexpr std::string_view kZsh = R"(#compdef tethys
_tethys() {
  local line text
  local -a found
  for line in "${(@f)$(${~words[1]} completion candidates -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -n $line ]] || continue
    text=${line%%$'\t'*}
    found+=("${text//:/\\:}:${line#*$'\t'}")
  done
  if (( $#found )); then _describe tethys found; else _files; fi
}
if [[ $funcstack[1] == _tethys ]]; then _tethys "$@"; else compdef _tethys tethys; fi
)";

constexpr std::string_view kFish = R"(function __tethys_candidates
  set -l current (commandline -ct)
  set -l words (commandline -opc) "$current"
  set -l found ($words[1] completion candidates -- $words[2..-1] 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\n' $found
  else
    __fish_complete_path "$current"
  end
end
complete -c tethys -f -a '(__tethys_candidates)'
)";

std::vector<Option> options() { return {}; }

std::vector<std::string> recipes_of(const Path& executable) {
  try {
    return recipe_names(recipes_folder(executable));
  } catch (const UserError&) {  // no folder of recipes, no names
    return {};
  }
}

int run(Invocation& invocation) {
  const Surroundings& surroundings = invocation.surroundings;
  const std::vector<std::string>& given = invocation.arguments;
  if (!given.empty() && given[0] == "candidates") {
    const std::vector<std::string> words(given.begin() + 1, given.end());
    for (const auto& [text, meaning] : completions(invocation.commands, words, recipes_of(surroundings.executable))) {
      fmt::print(surroundings.out, "{}\t{}\n", text, meaning);
    }
    return 0;
  }
  const std::string& shell = single_argument(invocation, kCompletionCommand, "the shell");
  if (shell != "bash" && shell != "zsh" && shell != "fish") {
    user_error("there is no completion for '{}'; expected bash, zsh or fish", shell);
  }
  fmt::print(surroundings.out, "{}", shell == "bash" ? kBash : shell == "zsh" ? kZsh : kFish);
  return 0;
}

}  // namespace

const Command kCompletionCommand{
    "completion",
    "bash|zsh|fish",
    "print a script that completes command lines in a shell",
    "  source <(tethys completion bash)                                     in ~/.bashrc, to keep it\n"
    "  source <(tethys completion zsh)                                      in ~/.zshrc, after compinit\n"
    "  tethys completion fish > ~/.config/fish/completions/tethys.fish\n\n"
    "Commands, flags, their choices and the names of recipes are completed. The script asks the program itself, by\n"
    "`tethys completion candidates -- WORDS…`, and so need not be made anew when the program changes.\n",
    options,
    run,
};

}  // namespace tethys
