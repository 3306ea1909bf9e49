#include "config/recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "config/config.h"
#include "config/flags.h"
#include "config/testing.h"

namespace tethys {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Path kRecipes = Path(TETHYS_SOURCE_DIR) / "recipes";

// The complaint about a recipe of that text, without the path of its folder.
std::string refusal(std::string_view text) {
  const RecipeFolder folder;
  const std::string path = folder.write("r.toml", text);
  Config config;
  std::string message = user_error_of([&] { load_recipe(config, path, folder.path()); });
  const std::string prefix = folder.path().string() + "/";
  for (size_t at = message.find(prefix); at != std::string::npos; at = message.find(prefix))
    message.erase(at, prefix.size());
  return message;
}

TEST(Recipe, SetsValuesOfEveryTypeWithFileAndLine) {
  const RecipeFolder folder;
  const std::string path =
      folder.write("mine.toml",
                   "[training]\nsteps = 1_000\n\n[optimizer]\nlr = 1\n[graph]\nscan_layers = true\n"
                   "mode = \"eager\"\nremat_save = [\"q\", 'k']\n");
  Config config;
  EXPECT_EQ(load_recipe(config, path, "nowhere"), "mine");
  EXPECT_EQ(config.get_int("training.steps"), 1000);
  EXPECT_EQ(config.get_float("optimizer.lr"), 1.0);
  EXPECT_TRUE(config.get_bool("graph.scan_layers"));
  EXPECT_EQ(config.get_string("graph.mode"), "eager");
  EXPECT_THAT(config.get_strings("graph.remat_save"), ElementsAre("q", "k"));
  EXPECT_EQ(config.origin("training.steps").place, path + ":2");
  EXPECT_EQ(config.origin("graph.mode").place, path + ":8");
  EXPECT_EQ(config.origin("training.seq_len").place, "default");
}

// Of these letters the parser's tables say that they cannot be.
TEST(Recipe, ALetterOfAnotherAlphabetIsNoValue) {
  for (const char* letter : {"\xC2\xA1", "\xC3\xA9", "\xCF\x9E", "\xD2\x99"}) {
    EXPECT_THAT(refusal("[training]\nsteps = " + std::string(letter) + "\n"), testing::StartsWith("r.toml:2:9: "));
  }
}

TEST(Recipe, BuildsOnAnotherByNameOrByPathFromItsOwnFolder) {
  const RecipeFolder folder;
  folder.write("one.toml", "[training]\nsteps = 1\nseq_len = 11\nlocal_batch_size = 111\n");
  folder.write("two.toml", "base = \"one\"\n[training]\nsteps = 2\nseq_len = 22\n");
  make_directories(folder.path() / "sub");
  const std::string path = folder.write("sub/three.toml", "base = \"../two.toml\"\n[training]\nsteps = 3\n");
  Config config;
  EXPECT_EQ(load_recipe(config, path, folder.path()), "three");
  EXPECT_EQ(config.get_int("training.steps"), 3);
  EXPECT_EQ(config.get_int("training.seq_len"), 22);
  EXPECT_EQ(config.get_int("training.local_batch_size"), 111);
  EXPECT_EQ(config.origin("training.local_batch_size").place, (folder.path() / "one.toml").string() + ":4");
}

TEST(Recipe, AFlagGivenBeforeItIsLoadedStillWins) {
  Config config;
  const std::vector<std::string> rest = apply_flags(config, {"llama3_8b", "--model.n_layers", "2"});
  load_recipe(config, rest.at(0), kRecipes);
  EXPECT_EQ(config.get_int("model.n_layers"), 2);
  EXPECT_EQ(config.get_int("model.dim"), 4096);
}

TEST(Recipe, WhatDoesNotParseIsNamedByLineAndColumn) {
  EXPECT_THAT(refusal("[training]\nsteps = \n"), testing::StartsWith("r.toml:2:9: "));
  EXPECT_THAT(refusal("[training\nsteps = 1\n"), testing::StartsWith("r.toml:1:10: "));
  EXPECT_THAT(refusal("[training]\nsteps = 1\nsteps = 2\n"), testing::StartsWith("r.toml:3:"));
  EXPECT_THAT(refusal("[training]\nsteps = 1\n[training]\nsteps = 2\n"), testing::StartsWith("r.toml:3:"));
  EXPECT_THAT(refusal("\xff\xfe"), testing::StartsWith("r.toml:1:"));
  EXPECT_THAT(refusal("[[[training]]]\n"), testing::StartsWith("r.toml:1:3: "));
  EXPECT_THAT(refusal("[.training]\n"), testing::StartsWith("r.toml:1:2: "));
}

TEST(Recipe, AnUnknownKeyNamesTheNearest) {
  EXPECT_EQ(refusal("[training]\nsteps = 1\n  stpes = 1\n"),
            "r.toml:3:3: unknown key training.stpes; the nearest is training.steps");
  EXPECT_EQ(refusal("[training]\nlr = 1\n"), "r.toml:2:1: unknown key training.lr; the nearest is optimizer.lr");
  EXPECT_EQ(refusal("[trainings]\nsteps = 1\n"),
            "r.toml:2:1: unknown key trainings.steps; the nearest is training.steps");
  EXPECT_EQ(refusal("steps = 1\n"), "r.toml:1:1: unknown key steps; the nearest is training.steps");
  EXPECT_THAT(refusal("[nonsense]\n"), HasSubstr("unknown key nonsense"));
  EXPECT_THAT(refusal("[graph]\nmodel.dim = 3\n"), HasSubstr("unknown key graph.model"));
}

TEST(Recipe, ACommandsOwnOptionIsNoKey) {
  const RecipeFolder folder;
  const std::string path = folder.write("r.toml", "resume = true\n");
  Config config(with_training_options({bool_option("resume", false, "")}));
  EXPECT_THAT(user_error_of([&] { load_recipe(config, path, folder.path()); }), HasSubstr("unknown key resume"));
}

TEST(Recipe, AnAliasIsNoKey) {
  EXPECT_THAT(refusal("mode = \"eager\"\n"), HasSubstr("unknown key mode; the nearest is graph.mode"));
}

TEST(Recipe, AValueOfAnotherTypeOrOutOfRangeIsRefused) {
  EXPECT_EQ(refusal("[training]\nsteps = \"ten\"\n"),
            "r.toml:2: training.steps is \"ten\", expected an int, at least 1 and at most 1000000000");
  EXPECT_EQ(refusal("[training]\nsteps = 1.5\n"),
            "r.toml:2: training.steps is 1.5, expected an int, at least 1 and at most 1000000000");
  EXPECT_EQ(refusal("[training]\nsteps = 0\n"),
            "r.toml:2: training.steps is 0, expected an int, at least 1 and at most 1000000000");
  EXPECT_EQ(refusal("[optimizer]\nlr = nan\n"),
            "r.toml:2: optimizer.lr is nan, expected a number, above 0 and in the range of "
            "float32, or 0");
  EXPECT_EQ(refusal("[graph]\nscan_layers = 1\n"), "r.toml:2: graph.scan_layers is 1, expected true or false");
  EXPECT_EQ(refusal("[graph]\nremat = \"some\"\n"),
            "r.toml:2: graph.remat is \"some\", expected one of none, full, selective");
  EXPECT_EQ(refusal("[data]\ntext = \"a.txt\"\n"), "r.toml:2: data.text is \"a.txt\", expected a list of texts");
  EXPECT_EQ(refusal("[data]\ntext = [\"a\", 1]\n"),
            "r.toml:2:1: data.text is a list with values that are not texts, expected a list of texts");
  EXPECT_EQ(refusal("[training.steps]\nx = 1\n"),
            "r.toml:1:11: training.steps is a table, expected an int, at least 1 and at most 1000000000");
  EXPECT_EQ(refusal("[training]\nsteps = 2020-01-01\n"),
            "r.toml:2:1: training.steps is a date or time, expected an int, at least 1 and at most 1000000000");
  EXPECT_EQ(refusal("training = 1\n"), "r.toml:1:1: training is a section, expected [training] and its keys");
}

TEST(Recipe, ABaseMustBeARecipe) {
  EXPECT_EQ(refusal("base = 3\n"), "r.toml:1:8: base is a number, expected the name or path of a recipe");
  EXPECT_EQ(refusal("base = \"missing.toml\"\n"), "r.toml:1:8: there is no recipe file missing.toml");
  EXPECT_EQ(refusal("base = \"q\"\n"), "r.toml:1:8: no recipe is named q; the nearest is r, and there are r");
}

TEST(Recipe, RecipesThatBuildOnEachOtherAreRefused) {
  EXPECT_EQ(refusal("base = \"r\"\n"), "r.toml:1:8: r.toml builds on itself: r.toml → r.toml");
  const RecipeFolder folder;
  folder.write("a.toml", "base = \"b\"\n");
  folder.write("b.toml", "base = \"c.toml\"\n");
  folder.write("c.toml", "base = \"./a.toml\"\n");
  Config config;
  EXPECT_THAT(user_error_of([&] { load_recipe(config, "a", folder.path()); }), HasSubstr("builds on itself"));
}

TEST(Recipe, AMissingRecipeIsNamedWithTheNearest) {
  Config config;
  EXPECT_THAT(user_error_of([&] { load_recipe(config, "llama3_8B", kRecipes); }),
              HasSubstr("no recipe is named llama3_8B; the nearest is llama3_8b"));
  EXPECT_EQ(user_error_of([&] { load_recipe(config, "no/such.toml", kRecipes); }),
            "there is no recipe file no/such.toml");
  EXPECT_EQ(user_error_of([&] { load_recipe(config, "x", "/nowhere"); }),
            "no recipe is named x: the folder /nowhere holds none");
  const RecipeFolder folder;
  EXPECT_THAT(user_error_of([&] { load_recipe(config, folder.path().string() + "/", kRecipes); }),
              HasSubstr("is a folder without a config.toml, and no recipe"));
}

// A name without a slash is one of a recipe, and still may be that of something else that lies here.
TEST(Recipe, WhatIsNoRecipeIsSaidToBeWhatItIs) {
  const RecipeFolder folder;
  folder.write("tok.json", "{}");
  std::filesystem::create_directory(folder.path() / "run");
  const Path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  Config config;
  EXPECT_EQ(user_error_of([&] { load_recipe(config, "tok.json", kRecipes); }),
            "tok.json is there and no recipe: a recipe is a file whose name ends in .toml");
  EXPECT_EQ(user_error_of([&] { load_recipe(config, "run", kRecipes); }),
            "run is a folder without a config.toml, and no recipe");
  std::filesystem::current_path(before);
}

// The closed form of a Llama's parameter count.
int64_t parameters(const Config& config) {
  const int64_t dim = config.get_int("model.dim"), ffn = config.get_int("model.ffn_dim");
  const int64_t kv_dim = dim / config.get_int("model.n_heads") * config.get_int("model.n_kv_heads");
  const int64_t block = 2 * dim * dim + 2 * dim * kv_dim + 3 * dim * ffn + 2 * dim;
  const int64_t ends = config.get_int("model.vocab_size") * dim * (config.get_bool("model.tie_embeddings") ? 1 : 2);
  return ends + config.get_int("model.n_layers") * block + dim;
}

struct Published {
  const char* recipe;
  int64_t parameters;
  double lr, rope_scaling_factor;
};

class Llama3Recipe : public testing::TestWithParam<Published> {};

TEST_P(Llama3Recipe, HasThePublishedSize) {
  Config config;
  EXPECT_EQ(load_recipe(config, GetParam().recipe, kRecipes), GetParam().recipe);
  check_config(config);
  EXPECT_EQ(parameters(config), GetParam().parameters);
  EXPECT_EQ(config.get_float("optimizer.lr"), GetParam().lr);
  EXPECT_EQ(config.get_float("model.rope_scaling_factor"), GetParam().rope_scaling_factor);
  EXPECT_EQ(config.get_float("model.rope_theta"), 500000);
  EXPECT_EQ(config.get_int("model.context_length"), 131072);
}

INSTANTIATE_TEST_SUITE_P(All, Llama3Recipe,
                         testing::Values(Published{"llama3_debugmodel", 6'163'712, 8e-4, 8},
                                         Published{"llama3_1b", 1'235'814'400, 3e-4, 32},
                                         Published{"llama3_3b", 3'212'749'824, 3e-4, 32},
                                         Published{"llama3_8b", 8'030'261'248, 3e-4, 8},
                                         Published{"llama3_70b", 70'553'706'496, 1.5e-4, 8},
                                         Published{"llama3_405b", 405'853'388'800, 8e-5, 8}),
                         [](const auto& info) { return std::string(info.param.recipe); });

}  // namespace
}  // namespace tethys
