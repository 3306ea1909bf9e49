#include "config/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/parameter_group.h"
#include "config/testing.h"

namespace tethys {
namespace {

const Origin kRecipe{Origin::Source::Recipe, "r.toml:3"};
const Origin kFlag{Origin::Source::Flag, "--flag"};

// The complaint when a recipe sets the names to the values.
std::string complaint(const std::vector<std::pair<std::string, OptionValue>>& values) {
  return user_error_of([&] {
    Config config;
    for (const auto& [name, value] : values) config.set(name, value, kRecipe);
    check_config(config);
  });
}

TEST(Config, StartsAtTheDefaultsWhichAreAConsistentModel) {
  const Config config;
  EXPECT_EQ(config.get_int("model.dim"), 256);
  EXPECT_EQ(config.get_float("optimizer.lr"), 8e-4);
  EXPECT_EQ(config.get_string("graph.mode"), "graph");
  EXPECT_FALSE(config.get_bool("graph.scan_layers"));
  EXPECT_TRUE(config.get_strings("data.text").empty());
  EXPECT_EQ(config.origin("model.dim").place, "default");
  check_config(config);
}

TEST(Config, AFlagWinsOverARecipeWhicheverComesFirst) {
  Config config;
  config.set("training.steps", int64_t{5}, kFlag);
  config.set("training.steps", int64_t{7}, kRecipe);
  EXPECT_EQ(config.get_int("training.steps"), 5);
  EXPECT_EQ(config.origin("training.steps").place, "--flag");
  config.set("training.steps", int64_t{9}, {Origin::Source::Flag, "--later"});
  EXPECT_EQ(config.get_int("training.steps"), 9);
}

TEST(Config, ALosingValueIsCheckedAllTheSame) {
  Config config;
  config.set("training.steps", int64_t{5}, kFlag);
  EXPECT_EQ(user_error_of([&] { config.set("training.steps", int64_t{0}, kRecipe); }),
            "r.toml:3: training.steps is 0, expected an int, at least 1 and at most 1000000000");
}

TEST(Config, AnUnknownNameOrAnotherTypeIsABugOfTheReader) {
  Config config;
  EXPECT_THROW(config.get_int("training.stepz"), InternalError);
  EXPECT_THROW(config.get_float("training.steps"), InternalError);
  EXPECT_THROW(config.get_string("data.text"), InternalError);
  EXPECT_THROW(config.origin("nothing"), InternalError);
  EXPECT_THROW(config.set("nothing", true, kFlag), InternalError);
}

TEST(Config, ATableWithTwoOptionsOfOneNameOrAnImpossibleDefaultIsABug) {
  EXPECT_THROW(Config({bool_option("x", true, ""), int_option("x", 1, {}, "")}), InternalError);
  Option aliased = bool_option("y", true, "");
  aliased.alias = "x";
  EXPECT_THROW(Config({bool_option("x", true, ""), aliased}), InternalError);
  EXPECT_THROW(Config({int_option("x", 0, at_least(1), "")}), InternalError);
}

TEST(Config, ACommandsOwnOptionsStandBesideTheTable) {
  Config config(with_training_options({text_option("output", "here", "")}));
  EXPECT_EQ(config.get_string("output"), "here");
  EXPECT_EQ(config.get_int("training.seq_len"), 2048);
}

// Beyond these, sizes overflow or a model takes hours to be recorded.
TEST(OptionTable, EveryCountOfAModelOrAStepHasAnUpperLimit) {
  for (const Option& option : option_table()) {
    const bool sizes = section_of(option) == "model" || section_of(option) == "training";
    if (option.type != OptionType::Int || !sizes) continue;
    EXPECT_LT(option.range.high, 1e12) << option.name;
    EXPECT_EQ(complaint({{option.name, int64_t{1} << 40}}).substr(0, 10), "r.toml:3: ") << option.name;
  }
}

TEST(Nearest, FindsTheNameBehindATypingMistakeOrAWrongSection) {
  const Config config(with_training_options({bool_option("dry_run", false, "")}));
  EXPECT_EQ(nearest_key(config, "training.stpes"), "training.steps");
  EXPECT_EQ(nearest_key(config, "training.lr"), "optimizer.lr");
  EXPECT_EQ(nearest_key(config, "steps"), "training.steps");
  EXPECT_EQ(nearest_key(config, "trainning.seqlen"), "training.seq_len");
  EXPECT_EQ(nearest_flag(config, "dryrun"), "--dry-run");
  EXPECT_EQ(nearest_flag(config, "modee"), "--graph.mode");
  EXPECT_EQ(nearest_flag(Config(std::vector<Option>()), "x"), "");
}

TEST(CheckConfig, HeadsMustDivide) {
  EXPECT_EQ(complaint({{"model.n_heads", int64_t{17}}}),
            "model.n_heads = 17 (r.toml:3) does not divide model.dim = 256 (default); 16 heads would, or set "
            "model.head_dim");
  EXPECT_EQ(
      complaint({{"model.n_kv_heads", int64_t{5}}}),
      "model.n_kv_heads = 5 (r.toml:3) does not divide model.n_heads = 16 (default); 4 key and value heads would");
  EXPECT_EQ(
      complaint({{"model.dim", int64_t{48}}}),
      "model.dim = 48 (r.toml:3) over model.n_heads = 16 (default) makes heads of 3, and rotary positions need an "
      "even size; use a width of 64");
}

TEST(CheckConfig, AHeadHasTheSizeThatIsGivenOrItsShareOfTheWidth) {
  Config config;
  EXPECT_EQ(head_dim_of(config), 16);  // 256 / 16
  config.set("model.head_dim", int64_t{128}, {});
  EXPECT_EQ(head_dim_of(config), 128);
  EXPECT_EQ(complaint({{"model.head_dim", int64_t{40}}, {"model.dim", int64_t{100}}}), "no error");
  EXPECT_EQ(complaint({{"model.head_dim", int64_t{17}}}),
            "model.head_dim = 17 (r.toml:3) is odd, and rotary positions need an even size; 18 would work");
  EXPECT_EQ(complaint({{"model.head_dim", int64_t{65538}}}),
            "model.n_heads = 16 (default) and model.head_dim = 65538 (r.toml:3) make attention 1048608 wide; at most "
            "1048576 is supported");
}

TEST(CheckConfig, ARowMustFitTheContext) {
  EXPECT_EQ(
      complaint({{"training.seq_len", int64_t{131073}}}),
      "training.seq_len = 131073 (r.toml:3) is longer than model.context_length = 131072 (default); use rows of at "
      "most 131072 tokens");
  EXPECT_EQ(complaint({{"training.seq_len", int64_t{131072}}}), "no error");
}

TEST(CheckConfig, AGlobalBatchIsWholeMicrobatches) {
  EXPECT_EQ(
      complaint({{"training.global_batch_size", int64_t{12}}}),
      "training.global_batch_size = 12 (r.toml:3) is not a multiple of training.local_batch_size = 8 (default); 16 "
      "would be");
  EXPECT_EQ(complaint({{"training.global_batch_size", int64_t{32}}}), "no error");
}

TEST(CheckConfig, SelectiveRematAndItsNamesComeTogether) {
  EXPECT_NE(complaint({{"graph.remat", std::string("selective")}}), "no error");
  EXPECT_NE(complaint({{"graph.remat_save", std::vector<std::string>{"q"}}}), "no error");
  EXPECT_EQ(complaint({{"graph.remat", std::string("selective")}, {"graph.remat_save", std::vector<std::string>{"q"}}}),
            "no error");
}

TEST(CheckConfig, WhatIsOffloadedIsKeptAndInOnePlace) {
  using Names = std::vector<std::string>;
  const std::string selective = "selective", full = "full", eager = "eager";
  EXPECT_EQ(complaint({{"graph.remat", selective}, {"graph.remat_offload", Names{"q"}}}), "no error");
  EXPECT_EQ(complaint({{"graph.remat", full}, {"graph.remat_offload", Names{"layer_input"}}}), "no error");
  EXPECT_THAT(complaint({{"graph.remat", full}, {"graph.remat_offload", Names{"q"}}}),
              testing::HasSubstr("nothing but layer_input is kept"));
  EXPECT_THAT(
      complaint(
          {{"graph.remat", selective}, {"graph.remat_save", Names{"q"}}, {"graph.remat_offload", Names{"k", "q"}}}),
      testing::HasSubstr("both name q"));
  EXPECT_THAT(complaint({{"graph.split_offload", true}}), testing::HasSubstr("needs --graph.scan_layers"));
  EXPECT_THAT(complaint({{"graph.split_offload", true}, {"graph.scan_layers", true}, {"graph.mode", eager}}),
              testing::HasSubstr("needs --mode graph or compile"));
}

TEST(CheckConfig, OtherCombinationsThatMakeNoSense) {
  EXPECT_EQ(complaint({{"model.rope_scaling_low", 4.0}}),
            "model.rope_scaling_low = 4.0 (r.toml:3) must be below model.rope_scaling_high = 4.0 (default)");
  EXPECT_EQ(
      complaint({{"data.text", std::vector<std::string>{"*.txt"}}, {"data.tokens", std::string("t.bin")}}),
      "data.text = [\"*.txt\"] (r.toml:3) and data.tokens = \"t.bin\" (r.toml:3) are both set; a run reads one of "
      "them");
  EXPECT_EQ(complaint({{"device.compile_options", std::vector<std::string>{"xla_fast"}}}),
            "r.toml:3: compile option \"xla_fast\" is not of the form NAME=VALUE");
  EXPECT_NE(complaint({{"optimizer.groups", std::vector<std::string>{"**.bias"}}}), "no error");
}

TEST(CheckConfig, ValidationNeedsDocumentsThatAreHeldOut) {
  EXPECT_EQ(complaint({{"validation.enable", true}, {"data.holdout", 0.0}}),
            "validation.enable = true (r.toml:3) needs documents that are held out, and data.holdout = 0.0 (r.toml:3); "
            "hold out a share, such as --data.holdout 0.01");
  EXPECT_EQ(complaint({{"validation.enable", true}}), "no error");
}

TEST(CheckConfig, CheckpointsStayInsideTheOutputFolderAndBesideItsFiles) {
  for (const char* bad : {"", ".", "..", "../other", "/tmp/other", "a/", "config.toml", "metrics.jsonl"}) {
    EXPECT_THAT(complaint({{"checkpoint.folder", std::string(bad)}}), testing::HasSubstr("output folder")) << bad;
  }
  EXPECT_EQ(complaint({{"checkpoint.folder", std::string("saved")}}), "no error");
}

TEST(CheckConfig, OptionsOfACheckpointThatNothingWouldReadAreRefused) {
  const std::vector<std::string> globs = {"output.weight"};
  EXPECT_THAT(complaint({{"checkpoint.exclude_from_loading", globs}}), testing::HasSubstr("initial_load_path PATH"));
  EXPECT_EQ(complaint({{"checkpoint.exclude_from_loading", globs}, {"checkpoint.initial_load_path", std::string("a")}}),
            "no error");
  const std::pair<std::string, OptionValue> narrow = {"checkpoint.export_dtype", std::string("bfloat16")};
  EXPECT_THAT(complaint({narrow}), testing::HasSubstr("add --checkpoint.last_save_model_only"));
  EXPECT_EQ(complaint({narrow, {"checkpoint.last_save_model_only", true}}), "no error");
}

TEST(ParameterGroup, ReadsItsSettingsInAnyOrder) {
  EXPECT_EQ(parse_parameter_group("**.bias: weight_decay=0", "f"), (ParameterGroup{"**.bias", 1, 0.0}));
  EXPECT_EQ(parse_parameter_group(" a.* :weight_decay=0.2  lr_scale=0.5", "f"), (ParameterGroup{"a.*", 0.5, 0.2}));
  EXPECT_EQ(parse_parameter_group("a: lr_scale=2", "f"), (ParameterGroup{"a", 2, std::nullopt}));
}

TEST(ParameterGroup, RefusesWhatIsNotAGroup) {
  const auto refusal = [](std::string_view text) { return user_error_of([&] { parse_parameter_group(text, "f:1"); }); };
  EXPECT_EQ(refusal("a"),
            "f:1: parameter group \"a\": it has no colon; expected \"GLOB: lr_scale=S weight_decay=W\" with either or "
            "both");
  EXPECT_THAT(refusal(": lr_scale=1"), testing::HasSubstr("it has no pattern"));
  EXPECT_THAT(refusal("a:"), testing::HasSubstr("it sets nothing"));
  EXPECT_THAT(refusal("a: lr=1"), testing::HasSubstr("unknown setting lr=1"));
  EXPECT_THAT(refusal("a: lr_scale"), testing::HasSubstr("unknown setting lr_scale"));
  EXPECT_THAT(refusal("a: lr_scale=1 lr_scale=2"), testing::HasSubstr("lr_scale is set twice"));
  EXPECT_THAT(refusal("a: lr_scale=x"),
              testing::HasSubstr("expected a number, above 0 and in the range of float32, or 0"));
  EXPECT_THAT(refusal("a: weight_decay=-1"),
              testing::HasSubstr("expected a number, above 0 and in the range of float32, or 0"));
}

TEST(ParameterGroup, TheLastGroupIsAllTheRest) {
  Config config;
  config.set("optimizer.groups", std::vector<std::string>{"**norm: weight_decay=0"}, kRecipe);
  EXPECT_EQ(parameter_groups(config), (std::vector<ParameterGroup>{{"**norm", 1, 0.0}, {"**", 1, std::nullopt}}));
}

}  // namespace
}  // namespace tethys
