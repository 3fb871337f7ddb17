// Which device represents a GPU that several processes list.
#include "analyzer/model/physical_gpus.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace prof::analyzer {
namespace {

TEST(PhysicalGpus, BelongToTheFirstProcessWithOperationsOnThem) {
  Trace trace;
  for (const char* uuid : {"a", "b", "a", "b", "", "a"}) {
    trace.devices.emplace_back();
    trace.devices.back().uuid = uuid;
  }
  trace.streams.resize(3);
  for (Stream& stream : trace.streams) stream.operations = {0, 1};
  trace.streams[0].device = DeviceId{2};
  trace.streams[1].device = DeviceId{5};
  trace.streams[2].device = DeviceId{1};
  trace.streams[2].operations = {};
  join_physical_gpus(trace, 0, [&](uint32_t d) {
    const std::string& uuid = trace.devices[d].uuid;
    return uuid.empty() ? std::optional<std::string>() : std::optional(uuid);
  });
  std::vector<uint32_t> physical;
  for (const Device& device : trace.devices) physical.push_back(device.physical);
  EXPECT_EQ(physical, (std::vector<uint32_t>{2, 1, 2, 1, 4, 2}));
}

}  // namespace
}  // namespace prof::analyzer
