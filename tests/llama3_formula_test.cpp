#include "llama3_formula.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace tethys::llama3_formula {
namespace {

class Llama3Formula : public testing::TestWithParam<const char*> {
 protected:
  static nlohmann::json golden_cases() {
    std::ifstream file(TETHYS_SOURCE_DIR "/tests/golden/" + std::string(GetParam()) + "/golden.json");
    return nlohmann::json::parse(file).at("cases");
  }
};

TEST_P(Llama3Formula, GivesTheWeightsThatTheGoldenRunsBeganWith) {
  const nlohmann::json cases = golden_cases();
  for (const auto& [name, golden] : cases.items()) {
    const bool tied = golden.at("model").at("tied");
    for (const auto& [parameter, values] : golden.at("formula_check").at("first_values").items()) {
      const HostTensor ours = weight(parameter, {DType::F64, {1, golden.at("model").at("dim")}}, tied);
      EXPECT_EQ(ours.to_doubles()[0], values.at(0).get<double>()) << name << ' ' << parameter;
      EXPECT_EQ(ours.to_doubles()[1], values.at(1).get<double>()) << name << ' ' << parameter;
    }
  }
}

TEST_P(Llama3Formula, GivesTheTokensAndIgnoredLabelsOfTheGoldenRuns) {
  const nlohmann::json cases = golden_cases();
  for (const auto& [name, golden] : cases.items()) {
    const auto& check = golden.at("formula_check");
    const bool ignored = golden.at("ignore_labels");
    for (size_t step = 0; step < golden.at("valid_tokens").size(); ++step) {
      const Batch b = batch(static_cast<int64_t>(step), golden.at("model").at("vocab"), ignored);
      const auto labels = b.labels.as<int32_t>();
      const auto valid = std::count_if(labels.begin(), labels.end(), [](int32_t label) { return label >= 0; });
      EXPECT_EQ(valid, golden.at("valid_tokens").at(step)) << name << " step " << step;
      for (size_t i = 0; step == 0 && i < 8; ++i) {
        EXPECT_EQ(b.ids.as<int32_t>()[i], check.at("first_ids").at(i)) << name << ' ' << i;
        EXPECT_EQ(labels[i], check.at("first_labels").at(i)) << name << ' ' << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Llama3Formula, testing::Values("llama3_torch", "qwen3_torch"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace tethys::llama3_formula
