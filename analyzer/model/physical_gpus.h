// Which devices of different processes are the same GPU? The readers of logs and of nsys databases find out.
#pragma once

#include "analyzer/model/trace.h"

#include <cstdint>
#include <map>
#include <optional>
#include <type_traits>
#include <vector>

namespace prof::analyzer {

// Sets Device::physical of the devices from `first` on. `key_of(index of the device)`: equal for the same GPU, empty if
// not known. Each process lists all GPUs of the host, also those that it does not use. So a GPU is shown as that of the
// first process with operations on it.
template <class KeyOf> void join_physical_gpus(Trace& trace, uint32_t first, const KeyOf& key_of) {
  std::vector<bool> used(trace.devices.size());
  for (const Stream& stream : trace.streams) {
    if (index(stream.device) < used.size() && stream.operations.size() != 0) used[index(stream.device)] = true;
  }
  const auto count = static_cast<uint32_t>(trace.devices.size());
  std::map<typename std::decay_t<decltype(key_of(first))>::value_type, uint32_t> shown;
  for (uint32_t d = first; d < count; ++d) {
    const auto key = key_of(d);
    if (!key) continue;
    uint32_t& known = shown.try_emplace(*key, d).first->second;
    if (used[d] && !used[known]) known = d;
  }
  for (uint32_t d = first; d < count; ++d) {
    const auto key = key_of(d);
    trace.devices[d].physical = key ? shown.at(*key) : d;
  }
}

}  // namespace prof::analyzer
