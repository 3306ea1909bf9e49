#include "config/describe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>

#include "config/config.h"
#include "config/recipe.h"
#include "config/testing.h"

namespace tethys {
namespace {

using testing::HasSubstr;

std::vector<Option> small_table() {
  Option mode = enum_option("graph.mode", "graph", {"eager", "graph"}, "how the step is cut");
  mode.alias = "mode";
  return {bool_option("dry_run", false, "run nothing"),
          int_option("training.steps", 10, at_least(1), "number of steps"),
          text_list_option("training.names", {"é"}, "names"), mode};
}

TEST(Describe, HelpListsEveryOptionWithTypeDefaultAndMeaning) {
  EXPECT_EQ(help_text("tethys x RECIPE [options]", "Does x.", small_table()),
            "usage: tethys x RECIPE [options]\n\n"
            "Does x.\n\n"
            "options:\n"
            "  --dry-run\n      run nothing (true or false; default false)\n\n"
            "training:\n"
            "  --training.steps INT\n      number of steps (an int, at least 1; default 10)\n"
            "  --training.names TEXT,…\n      names (a list of texts; default [\"é\"])\n\n"
            "graph:\n"
            "  --graph.mode, --mode eager|graph\n      how the step is cut (one of eager, graph; default \"graph\")\n");
}

TEST(Describe, HelpOfAPartDescribesItsOptionsAndNamesTheOthers) {
  const std::string own =
      "usage: x\n\ny\n\noptions:\n  --dry-run\n      run nothing (true or false; default false)\n\n";
  EXPECT_EQ(help_text("x", "y", small_table(), ""),
            own +
                "of the configuration, as --SECTION.OPTION; --help SECTION or --help all describes them:\n"
                "  training      steps names\n"
                "  graph         mode\n");
  EXPECT_EQ(help_text("x", "y", small_table(), "graph"),
            own +
                "graph:\n  --graph.mode, --mode eager|graph\n      how the step is cut (one of eager, graph; default "
                "\"graph\")\n");
}

TEST(Describe, NoLineOfHelpIsWiderThanAHundredColumns) {
  std::vector<Option> options = option_table();
  options.insert(options.begin(), text_option("x", "", std::string(60, 'a') + " " + std::string(60, 'b')));
  for (const char* part : {"", "all"}) {
    const std::string text = help_text("x", "y", options, part);
    EXPECT_THAT(text, testing::HasSubstr(std::string(60, 'a') + "\n      " + std::string(60, 'b')));
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = text.find('\n', begin);
      EXPECT_LE(end - begin, 104u) << text.substr(begin, end - begin);  // bytes: an ellipsis has three
      begin = end + 1;
    }
  }
}

TEST(Describe, MarkdownIsATablePerSection) {
  EXPECT_THAT(options_markdown(small_table()),
              HasSubstr("## graph\n\n| option | takes | default | meaning |\n|---|---|---|---|\n"
                        "| `mode` (`--mode`) | one of eager, graph | `\"graph\"` | how the step is cut |\n"));
}

TEST(Describe, TheTreeShowsEachValueWithItsOriginInColumns) {
  Config config(small_table());
  config.set("training.steps", int64_t{5}, {Origin::Source::Flag, "--training.steps"});
  EXPECT_EQ(config_tree(config),
            "training\n"
            "  steps  5        --training.steps\n"
            "  names  [\"é\"]    default\n"
            "graph\n"
            "  mode   \"graph\"  default\n");
}

TEST(Describe, TheTomlHoldsWhatARecipeMaySet) {
  EXPECT_EQ(config_toml(Config(small_table())),
            "[training]\nsteps = 10\nnames = [\"é\"]\n\n[graph]\nmode = \"graph\"\n");
}

TEST(Describe, TheTomlLoadsToTheSameValues) {
  Config config;
  load_recipe(config, "llama3_405b", Path(TETHYS_SOURCE_DIR) / "recipes");
  const Origin origin{Origin::Source::Flag, "--x"};
  config.set("data.text", std::vector<std::string>{"a \"b\"\\*.txt", "tab\there", "ü", "\x7f"}, origin);
  config.set("optimizer.lr", 0.1 + 0.2, origin);
  config.set("metrics.sample_temperature", 5e-324, origin);
  config.set("model.norm_eps", 3.3000000000000003e38, origin);
  config.set("debug.seed", std::numeric_limits<int64_t>::max(), origin);

  const RecipeFolder folder;
  Config again;
  load_recipe(again, folder.write("again.toml", config_toml(config)), folder.path());
  for (const Option& option : config.options()) {
    EXPECT_EQ(again.value(option.name), config.value(option.name)) << option.name;
    EXPECT_EQ(again.origin(option.name).source, Origin::Source::Recipe) << option.name;
  }
}

TEST(Describe, ThePageInDocsIsThatOfTheTable) {
  const Path page = Path(TETHYS_SOURCE_DIR) / "docs/options.md";
  if (std::getenv("TETHYS_UPDATE_GOLDEN") != nullptr) write_file(page, options_markdown(option_table()));
  EXPECT_EQ(read_file(page), options_markdown(option_table()))
      << "the table has changed: make docs writes the page anew";
}

}  // namespace
}  // namespace tethys
