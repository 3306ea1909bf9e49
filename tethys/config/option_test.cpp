#include "config/option.h"

#include <gtest/gtest.h>

#include <limits>

#include "config/option_table.h"
#include "config/testing.h"

namespace tethys {
namespace {

std::string refusal(const Option& option, std::string_view text) {
  return user_error_of([&] { parsed_value(option, text, "--x"); });
}

TEST(Option, TextBecomesAValueOfTheOptionsType) {
  EXPECT_EQ(parsed_value(bool_option("x", false, ""), "true", "--x"), OptionValue(true));
  EXPECT_EQ(parsed_value(int_option("x", 1, {}, ""), "-7", "--x"), OptionValue(int64_t{-7}));
  EXPECT_EQ(parsed_value(int_option("x", 1, {}, ""), "+7", "--x"), OptionValue(int64_t{7}));
  EXPECT_EQ(parsed_value(float_option("x", 1, {}, ""), "8e-4", "--x"), OptionValue(8e-4));
  EXPECT_EQ(parsed_value(float_option("x", 1, {}, ""), "3", "--x"), OptionValue(3.0));
  EXPECT_EQ(parsed_value(text_option("x", "", ""), "", "--x"), OptionValue(std::string()));
  EXPECT_EQ(parsed_value(enum_option("x", "a", {"a", "b"}, ""), "b", "--x"), OptionValue(std::string("b")));
  EXPECT_EQ(parsed_value(text_list_option("x", {}, ""), "q,,k", "--x"),
            OptionValue(std::vector<std::string>{"q", "", "k"}));
  EXPECT_EQ(parsed_value(text_list_option("x", {}, ""), "", "--x"), OptionValue(std::vector<std::string>{}));
}

TEST(Option, TextOfAnotherTypeIsRefused) {
  EXPECT_EQ(refusal(int_option("x", 1, at_least(1), ""), "ten"), "--x: x is \"ten\", expected an int, at least 1");
  for (const char* text : {"", "1.5", "1e3", "5x", " 5", "0x10", "99999999999999999999", "++5", "+"}) {
    EXPECT_NE(refusal(int_option("x", 1, {}, ""), text), "no error") << text;
  }
  for (const char* text : {"", "nan", "inf", "-inf", "1e400", "1.5.2", "1,5"}) {
    EXPECT_NE(refusal(float_option("x", 1, {}, ""), text), "no error") << text;
  }
  for (const char* text : {"", "yes", "1", "True"}) {
    EXPECT_EQ(refusal(bool_option("x", false, ""), text),
              fmt::format("--x: x is \"{}\", expected true or false", text));
  }
}

TEST(Option, ValuesOutOfRangeAreRefusedAndTheEndsBelongAsDeclared) {
  EXPECT_EQ(refusal(int_option("x", 1, at_least(1), ""), "0"), "--x: x is 0, expected an int, at least 1");
  EXPECT_EQ(refusal(float_option("x", 1, above(0), ""), "0"), "--x: x is 0.0, expected a finite number, above 0");
  EXPECT_EQ(refusal(float_option("x", 0, from_below(0, 1), ""), "1"),
            "--x: x is 1.0, expected a number, at least 0 and below 1");
  EXPECT_EQ(refusal(float_option("x", 0, between(0, 1), ""), "1.5"),
            "--x: x is 1.5, expected a number, at least 0 and at most 1");
  EXPECT_EQ(refusal(int_option("x", -1, at_least_or(1, -1), ""), "0"),
            "--x: x is 0, expected an int, at least 1, or -1");
  EXPECT_EQ(refusal(enum_option("x", "a", {"a", "b"}, ""), "c"), "--x: x is \"c\", expected one of a, b");
  EXPECT_EQ(refusal(float_option("x", 0, from_below(0, 1), ""), "0"), "no error");
  EXPECT_EQ(refusal(float_option("x", 1, above(0), ""), "inf"), "--x: x is inf, expected a finite number, above 0");
  EXPECT_EQ(refusal(float_option("x", 0, between(0, 1), ""), "1"), "no error");
  EXPECT_EQ(refusal(int_option("x", -1, at_least_or(1, -1), ""), "-1"), "no error");
}

TEST(Option, AnIntIsAFloatAndAnyOtherTypeIsRefused) {
  EXPECT_EQ(checked_value(float_option("x", 1, {}, ""), int64_t{3}, "f:1"), OptionValue(3.0));
  EXPECT_EQ(user_error_of([] { checked_value(int_option("x", 1, {}, ""), 3.0, "f:1"); }),
            "f:1: x is 3.0, expected an int");
  EXPECT_EQ(user_error_of([] { checked_value(bool_option("x", true, ""), int64_t{1}, "f:1"); }),
            "f:1: x is 1, expected true or false");
  EXPECT_EQ(user_error_of([] { checked_value(text_option("x", "", ""), true, "f:1"); }),
            "f:1: x is true, expected a text");
}

TEST(Option, TomlTextKeepsTypesAndEscapes) {
  EXPECT_EQ(to_toml(500000.0), "500000.0");
  EXPECT_EQ(to_toml(1e-8), "1e-08");
  EXPECT_EQ(to_toml(0.1), "0.1");
  EXPECT_EQ(to_toml(int64_t{-1}), "-1");
  EXPECT_EQ(to_toml(std::string("a\"b\\c\n")), "\"a\\\"b\\\\c\\u000a\"");
  EXPECT_EQ(to_toml(std::vector<std::string>{"q", "k"}), "[\"q\", \"k\"]");
  EXPECT_EQ(to_toml(std::vector<std::string>{}), "[]");
}

TEST(Option, AFlagHasDashesWhereItHasNoSection) {
  EXPECT_EQ(flag_of(bool_option("dry_run", false, "")), "--dry-run");
  EXPECT_EQ(flag_of(bool_option("training.seq_len", false, "")), "--training.seq_len");
}

TEST(OptionTable, HasTheSectionsInTheirOrderAndAMeaningForEachOption) {
  std::vector<std::string> sections;
  for (const Option& option : option_table()) {
    if (sections.empty() || sections.back() != section_of(option)) sections.emplace_back(section_of(option));
    EXPECT_FALSE(option.meaning.empty()) << option.name;
  }
  EXPECT_EQ(sections, (std::vector<std::string>{"model", "training", "optimizer", "lr_scheduler", "data", "parallelism",
                                                "graph", "kernels", "compile", "checkpoint", "metrics", "validation",
                                                "profiling", "debug", "device"}));
}

}  // namespace
}  // namespace tethys
