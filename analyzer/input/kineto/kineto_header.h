// What a trace has besides its events: devices, time base, rank, versions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace prof::analyzer {

struct KinetoDevice {
  uint32_t ordinal = 0;
  std::string name;
  std::vector<std::pair<std::string, uint64_t>> properties;
};

struct KinetoHeader {
  int64_t base_ns = 0;  // "baseTimeNanoseconds": times of events count from it
  std::vector<KinetoDevice> devices;
  std::vector<std::pair<std::string, std::string>>
      facts;                        // scalar members of the outermost object and of "distributedInfo"
  std::vector<std::string> unread;  // members that are no JSON

  // Reads one member of the outermost object.
  void add(std::string_view key, std::string_view value);
};

}  // namespace prof::analyzer
