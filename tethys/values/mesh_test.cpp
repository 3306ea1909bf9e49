#include "values/mesh.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace tethys {
namespace {

using Groups = std::vector<std::vector<int64_t>>;

TEST(Mesh, WithoutAxesIsOneDevice) {
  const Mesh mesh;
  EXPECT_EQ(mesh.size(), 1);
  EXPECT_EQ(mesh.addressable(), std::vector<int64_t>{0});
  EXPECT_EQ(mesh.groups({}), Groups{{0}});
  EXPECT_EQ(to_string(mesh), "one device");
}

TEST(Mesh, TheLastAxisIsTheFastest) {
  const Mesh mesh({{"dp_replicate", 2}, {"dp_shard", 3}});
  EXPECT_EQ(mesh.size(), 6);
  EXPECT_EQ(mesh.coordinate(4, 0), 1);
  EXPECT_EQ(mesh.coordinate(4, 1), 1);
  EXPECT_EQ(mesh.coordinate(5, 1), 2);
  EXPECT_EQ(to_string(mesh), "dp_replicate=2,dp_shard=3");
}

TEST(Mesh, AnAxisThatItDoesNotHaveIsOfSizeOne) {
  const Mesh mesh({{"dp_shard", 4}, {"tp", 2}});
  EXPECT_EQ(mesh.find("tp"), 1);
  EXPECT_EQ(mesh.find("cp"), std::nullopt);
  EXPECT_EQ(mesh.size_of("dp_shard"), 4);
  EXPECT_EQ(mesh.size_of("cp"), 1);
  EXPECT_EQ(mesh.find_all("tp"), std::vector<int64_t>{1});
}

TEST(Mesh, ThePartOfAnAxisThatExpertsAreCutOverCountsAsTheAxis) {
  const Mesh mesh({{"dp_shard", 2}, {"dp_shard_ep", 3}, {"tp_ep", 4}});
  EXPECT_EQ(mesh.find_all("dp_shard"), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(mesh.find_all("tp"), std::vector<int64_t>{2});
  EXPECT_EQ(mesh.find_all("cp"), std::vector<int64_t>{});
  EXPECT_EQ(mesh.size_of("dp_shard"), 6);
  EXPECT_FALSE(mesh.is_for_experts(0));
  EXPECT_TRUE(mesh.is_for_experts(1));
}

TEST(Mesh, AGroupIsTheDevicesThatDifferAlongItsAxes) {
  const Mesh mesh({{"dp_replicate", 2}, {"dp_shard", 2}});
  EXPECT_EQ(mesh.groups({1}), (Groups{{0, 1}, {2, 3}}));
  EXPECT_EQ(mesh.groups({0}), (Groups{{0, 2}, {1, 3}}));
  EXPECT_EQ(mesh.groups({0, 1}), (Groups{{0, 1, 2, 3}}));
  EXPECT_EQ(mesh.groups({1, 0}), (Groups{{0, 2, 1, 3}}));  // in the order of the axes as listed
  EXPECT_EQ(mesh.groups({}), (Groups{{0}, {1}, {2}, {3}}));
}

TEST(Mesh, AProcessHoldsAContiguousRun) {
  const Mesh mesh({{"dp_shard", 8}}, 1, 4);
  EXPECT_EQ(mesh.addressable(), (std::vector<int64_t>{2, 3}));
}

// The message of the refusal.
template <typename Make>
std::string refusal(const Make& make) {
  try {
    make();
  } catch (const UserError& e) {
    return e.what();
  }
  return "no error";
}

TEST(Mesh, RefusesSizesNamesAndProcessesThatMakeNoMesh) {
  EXPECT_EQ(refusal([] { Mesh({{"tp", 0}}); }), "mesh axis 'tp' has size 0; sizes are at least 1");
  EXPECT_EQ(refusal([] { Mesh({{"tp", 2}, {"tp", 2}}); }), "mesh axis 'tp' is named twice");
  EXPECT_EQ(refusal([] { Mesh({{"tp", 4}}, 0, 3); }), "3 processes do not divide the 4 devices of mesh tp=4");
  EXPECT_EQ(refusal([] { Mesh({{"tp", 4}}, 2, 2); }), "process index 2 is outside 0 to 1");
}

}  // namespace
}  // namespace tethys
