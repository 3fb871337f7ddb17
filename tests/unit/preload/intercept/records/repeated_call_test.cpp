// Which parts of a launch's configuration its repeats have.
#include "preload/intercept/records/repeated_call.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

namespace prof::preload {
namespace {

CUlaunchAttribute attribute(CUlaunchAttributeID id) {
  CUlaunchAttribute made = {};
  made.id = id;
  made.value.clusterDim.x = 4;
  return made;
}

std::vector<CUlaunchAttributeID> repeated(std::vector<CUlaunchAttribute> attributes) {
  CUlaunchConfig config = {};
  config.gridDimX = 7, config.sharedMemBytes = 1234;
  config.attrs = attributes.data(), config.numAttrs = static_cast<unsigned>(attributes.size());
  const ForRepeat<const CUlaunchConfig*> repeat(&config);
  EXPECT_EQ(repeat.get()->gridDimX, 7u);
  EXPECT_EQ(repeat.get()->sharedMemBytes, 1234u);
  std::vector<CUlaunchAttributeID> ids;
  for (unsigned i = 0; i < repeat.get()->numAttrs; ++i) {
    ids.push_back(repeat.get()->attrs[i].id);
    EXPECT_EQ(repeat.get()->attrs[i].value.clusterDim.x, 4u);
  }
  EXPECT_EQ(config.numAttrs, attributes.size());  // the program's own configuration is unchanged
  return ids;
}

constexpr CUlaunchAttributeID kCluster = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                              kCooperative = CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
                              kEarly = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;

TEST(RepeatedCall, BeginsNoEarlierAndMarksNoEventOfTheProgram) {
  using Ids = std::vector<CUlaunchAttributeID>;
  EXPECT_EQ(repeated({}), Ids{});
  EXPECT_EQ(repeated({attribute(kCluster), attribute(kCooperative)}), (Ids{kCluster, kCooperative}));
  EXPECT_EQ(repeated({attribute(kEarly), attribute(kCluster), attribute(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT),
                      attribute(CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT), attribute(kCooperative)}),
            (Ids{kCluster, kCooperative}));
  EXPECT_EQ(repeated({attribute(kEarly)}), Ids{});
}

TEST(RepeatedCall, WithMoreAttributesThanAreHeldIsAsItWas) {
  std::vector<CUlaunchAttribute> many(17, attribute(kCluster));
  many.push_back(attribute(kEarly));
  EXPECT_EQ(repeated(many).size(), 18u);
  many.erase(many.begin());
  EXPECT_EQ(repeated(many).size(), 16u);
}

TEST(RepeatedCall, OfNoConfigurationIsNone) { EXPECT_EQ(ForRepeat<const CUlaunchConfig*>(nullptr).get(), nullptr); }

}  // namespace
}  // namespace prof::preload
