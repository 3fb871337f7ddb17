// Which definitions of logs are one thing of the model, and which are two? Each differs in one part only.
#include "tests/unit/analyzer/launch_log.h"

#include <gtest/gtest.h>

#include <memory>
#include <string_view>
#include <vector>

namespace prof::analyzer {
namespace {

using tests::LogBuilder;

struct Gpu {
  std::string_view host, uuid;
};

// For each log in order, the row of the device that is the same GPU.
std::vector<uint32_t> physical(const std::vector<Gpu>& gpus) {
  std::vector<std::unique_ptr<LogFile>> logs;
  std::vector<std::unique_ptr<LogBuilder>> builders;
  uint32_t pid = 100;
  for (const Gpu& gpu : gpus) {
    LogBuilder& log = *builders.emplace_back(std::make_unique<LogBuilder>(tests::new_launch_log()));
    log.header.pid = ++pid;
    log.define(format::MetaDef{"host", gpu.host});
    log.define(format::DeviceDef{0, "GPU", gpu.uuid});
    tests::add_thread(log, 1, pid);
    tests::add_launch(log, 1, 10, 20);
    log.seal_all();
    logs.push_back(log.open_log());
  }
  const std::unique_ptr<Trace> trace = build_trace(std::move(logs));
  std::vector<uint32_t> rows;
  for (const Device& device : trace->devices) rows.push_back(device.physical);
  return rows;
}

TEST(SameThing, AGpuHasOneUuidOnOneHost) {
  constexpr std::string_view kOne = "00112233445566778899aabbccddeeff", kOther = "00112233445566778899aabbccddee00";
  EXPECT_EQ(physical({{"node1", kOne}, {"node1", kOne}}), (std::vector<uint32_t>{0, 0}));
  EXPECT_EQ(physical({{"node1", kOne}, {"node1", kOther}}), (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(physical({{"node1", kOne}, {"node2", kOne}}), (std::vector<uint32_t>{0, 1})) << "virtual GPUs";
  EXPECT_EQ(physical({{"node1", kOne}, {"node2", kOne}, {"node1", kOne}}), (std::vector<uint32_t>{0, 1, 0}));
  EXPECT_EQ(physical({{"node1", ""}, {"node1", ""}}), (std::vector<uint32_t>{0, 1})) << "not known";
}

TEST(SameThing, APoolThatTheProgramDidNotMakeHasOneHandleOriginAndPlace) {
  using Pool = format::MemoryPoolDef;
  using Origin = format::PoolOrigin;
  const auto pools = [](Pool a, Pool b) {
    LogBuilder log = tests::new_launch_log();
    tests::add_thread(log, 1, 100);
    a.id = format::PoolId{1}, b.id = format::PoolId{2};
    log.define(a);
    log.define(b);
    return tests::model_of(log)->memory_pools.size();
  };
  const size_t none = [] {
    LogBuilder log = tests::new_launch_log();
    return tests::model_of(log)->memory_pools.size();
  }();
  EXPECT_EQ(pools({{}, 7, Origin::Default, 1, 0}, {{}, 7, Origin::Default, 1, 0}) - none, 1u) << "two threads met";
  EXPECT_EQ(pools({{}, 7, Origin::Unknown, 1, 0}, {{}, 8, Origin::Unknown, 1, 0}) - none, 2u);
  EXPECT_EQ(pools({{}, 7, Origin::Default, 1, 0}, {{}, 7, Origin::Unknown, 1, 0}) - none, 2u);
  EXPECT_EQ(pools({{}, 7, Origin::Default, 1, 0}, {{}, 7, Origin::Default, 1, 1}) - none, 2u);
  EXPECT_EQ(pools({{}, 7, Origin::Created, 1, 0}, {{}, 7, Origin::Created, 1, 0}) - none, 2u)
      << "the first was destroyed";
}

}  // namespace
}  // namespace prof::analyzer
