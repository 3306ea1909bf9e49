#include "tools/completions.h"

#include <algorithm>
#include <cctype>

namespace tethys {
namespace {

using Words = std::vector<std::string>;

// The words --flag = value as one; the sign may be the last.
Words joined(const Words& words) {
  Words whole;
  for (size_t i = 0; i < words.size(); ++i) {
    const bool sign = words[i] == "=" && i > 0 && words[i - 1].starts_with("--");
    if (!sign) {
      whole.push_back(words[i]);
    } else {
      whole.back() += "=";
      if (i + 1 < words.size()) whole.back() += words[++i];
    }
  }
  return whole;
}

bool is_flag(const std::string& word) { return word.size() > 1 && word[0] == '-'; }

// The option of a flag that was written without a value; null if there is none, or it is a negative.
const Option* option_of(const Config& config, const std::string& flag) {
  std::string name = flag.substr(std::min(flag.find_first_not_of('-'), flag.size()));
  std::replace(name.begin(), name.end(), '-', '_');
  return config.find(name);
}

// What stands before the word to complete.
struct Before {
  const Option* awaits = nullptr;  // the option whose value that word is
  size_t positional = 0;           // arguments that are no flags
};

Before read_before(const Config& config, const Words& words, size_t begin) {
  Before before;
  for (size_t i = begin; i + 1 < words.size(); ++i) {
    before.awaits = nullptr;
    if (!is_flag(words[i])) {
      ++before.positional;
    } else if (words[i].find('=') == std::string::npos) {
      const Option* option = option_of(config, words[i]);
      if (option == nullptr) continue;
      const bool needs_value = option->type != OptionType::Bool;
      if (needs_value && i + 2 == words.size()) before.awaits = option;
      if (needs_value || words[i + 1] == "true" || words[i + 1] == "false") ++i;
    }
  }
  return before;
}

std::vector<Completion> plain(const Words& texts) {
  std::vector<Completion> list;
  for (const std::string& text : texts) list.push_back({text, ""});
  return list;
}

std::vector<Completion> values_of(const Option& option, const Words& recipes) {
  if (option.name == "recipe") return plain(recipes);
  if (option.type == OptionType::Bool) return plain({"true", "false"});
  return plain(option.choices);
}

std::vector<Completion> flags_of(const Config& config) {
  std::vector<Completion> list, negatives;
  for (const Option& option : config.options()) {
    const std::string flag = flag_of(option);
    list.push_back({flag, option.meaning});
    if (option.alias.size() > 1) list.push_back({"--" + option.alias, option.meaning});
    if (option.type == OptionType::Bool && option.name != "help") {
      negatives.push_back({"--no-" + flag.substr(2), "not: " + option.meaning});
    }
  }
  list.insert(list.end(), negatives.begin(), negatives.end());
  return list;
}

// By the first word of the usage: RECIPE, or a choice such as bash|zsh|fish.
std::vector<Completion> first_arguments(const Command& command, const Words& recipes) {
  std::string word(command.usage.substr(0, command.usage.find(' ')));
  std::erase_if(word, [](char c) { return c == '[' || c == ']'; });
  if (word == "RECIPE") return plain(recipes);
  if (word.find('|') == std::string::npos) return {};
  std::vector<Completion> list;
  for (size_t begin = 0; begin < word.size();) {
    const size_t end = std::min(word.find('|', begin), word.size());
    list.push_back({word.substr(begin, end - begin), ""});
    begin = end + 1;
  }
  return list;
}

// The first words of all names; of a family the meaning says what is in it.
std::vector<Completion> command_names(const Commands& commands) {
  std::vector<Completion> list;
  for (const Command* command : commands) {
    const size_t space = command->name.find(' ');
    const std::string word(command->name.substr(0, space));
    const bool family = space != std::string_view::npos;
    const std::string meaning(family ? command->name.substr(space + 1) : command->summary);
    if (family && !list.empty() && list.back().text == word) {
      list.back().meaning += ", " + meaning;
    } else {
      list.push_back({word, meaning});
    }
  }
  list.push_back({"--help", "list the commands"});
  list.push_back({"--version", "say which program this is"});
  return list;
}

std::vector<Completion> names_in(const Commands& family) {
  std::vector<Completion> list;
  for (const Command* command : family) {
    list.push_back({std::string(command->name.substr(command->name.find(' ') + 1)), std::string(command->summary)});
  }
  return list;
}

// Of a word --flag=value.
std::vector<Completion> assignments(const Config& config, const std::string& word, const Words& recipes) {
  const size_t sign = word.find('=');
  const Option* option = option_of(config, word.substr(0, sign));
  if (option == nullptr) return {};
  std::vector<Completion> list = values_of(*option, recipes);
  for (Completion& value : list) value.text.insert(0, word.substr(0, sign + 1));
  return list;
}

// Of a line whose words are whole.
std::vector<Completion> last_word(const Commands& commands, const Words& words, const Words& recipes) {
  const std::string& current = words.back();
  if (words.size() == 1) return command_names(commands);
  const auto [command, name_words] = find_command(commands, {words.begin(), words.end() - 1});
  if (command == nullptr) return words.size() > 2 ? std::vector<Completion>() : names_in(family_of(commands, words[0]));
  const Config config(options_of(*command));
  const Before before = read_before(config, words, name_words);
  if (before.awaits != nullptr) return values_of(*before.awaits, recipes);
  const bool all_arguments = std::find(words.begin(), words.end() - 1, "--") != words.end() - 1;
  if (!all_arguments && current.starts_with('-')) {
    return current.find('=') == std::string::npos ? flags_of(config) : assignments(config, current, recipes);
  }
  return before.positional > 0 ? std::vector<Completion>() : first_arguments(*command, recipes);
}

}  // namespace

std::vector<Completion> completions(const Commands& commands, const std::vector<std::string>& words,
                                    const std::vector<std::string>& recipes) {
  Words whole = joined(words);
  if (whole.empty()) whole.emplace_back();
  std::vector<Completion> list = last_word(commands, whole, recipes);
  std::erase_if(list, [&](const Completion& completion) { return !completion.text.starts_with(whole.back()); });
  const bool parted = !words.empty() && words.back() != whole.back();
  for (Completion& completion : list) {
    if (parted) completion.text.erase(0, whole.back().find('=') + 1);
  }
  return list;
}

}  // namespace tethys
