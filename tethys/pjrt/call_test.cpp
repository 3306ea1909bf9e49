#include "pjrt/call.h"

#include <gtest/gtest.h>

#include "pjrt/named_value_c.h"

namespace tethys::pjrt {
namespace {

PJRT_Error* answer(PJRT_Client_ProcessIndex_Args*) { return nullptr; }

TEST(HasFunction, NeedsATableThatReachesItAndAnEntryThatIsSet) {
  PJRT_Api api{};
  api.PJRT_Client_ProcessIndex = answer;
  const auto function = TETHYS_PJRT(PJRT_Client_ProcessIndex);
  // Where an older plugin's table ends just before the function, just inside it, and just after it.
  api.struct_size = offsetof(PJRT_Api, PJRT_Client_ProcessIndex);
  EXPECT_FALSE(has_function(&api, function));
  api.struct_size += sizeof(void*) - 1;
  EXPECT_FALSE(has_function(&api, function));
  api.struct_size += 1;
  EXPECT_TRUE(has_function(&api, function));
  api.PJRT_Client_ProcessIndex = nullptr;
  EXPECT_FALSE(has_function(&api, function));
}

TEST(Functions, KnowTheSizeOfTheirArgumentsWithoutTailPadding) {
  const auto function = TETHYS_PJRT(PJRT_Client_ProcessIndex);
  EXPECT_STREQ(function.name, "PJRT_Client_ProcessIndex");
  // struct_size, extension_start and client of eight bytes each, then an int: 28 bytes, where sizeof says 32.
  EXPECT_EQ(function.args_size, 28u);
  EXPECT_EQ(sizeof(PJRT_Client_ProcessIndex_Args), 32u);
}

TEST(NamedValues, OfEveryTypeGoThroughTheCForm) {
  const NamedValues values = {
      {"text", std::string("with \0 inside", 13)}, {"empty", std::string()}, {"number", int64_t{-7}},
      {"list", std::vector<int64_t>{1, 20, 0}},    {"real", 2.5f},           {"flag", true}};
  const std::vector<PJRT_NamedValue> c = to_c(values);
  EXPECT_EQ(c.size(), values.size());
  for (const PJRT_NamedValue& value : c) EXPECT_EQ(value.struct_size, PJRT_NamedValue_STRUCT_SIZE);
  EXPECT_EQ(from_c(c.data(), c.size()), values);
}

}  // namespace
}  // namespace tethys::pjrt
