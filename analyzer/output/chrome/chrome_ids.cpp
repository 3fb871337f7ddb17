#include "analyzer/output/chrome/chrome_ids.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace prof::analyzer {

namespace {

constexpr uint64_t kStep = 10'000'000;
constexpr uint64_t kCounterTrack = 1'000'000'000;

uint64_t free_id(uint64_t wanted, std::set<uint64_t>& used) {
  while (!used.insert(wanted).second) wanted += kStep;
  return wanted;
}

// The first correlation id that no call or operation of the process has, minus the row of its first call.
std::vector<uint64_t> free_correlations(const Trace& trace) {
  std::vector<uint64_t> last(trace.processes.size(), 0);
  std::vector<uint32_t> first_row(trace.processes.size(), UINT32_MAX);
  for (const Thread& thread : trace.threads) {
    uint64_t& greatest = last[index(thread.process)];
    if (thread.host.size() != 0)
      first_row[index(thread.process)] = std::min(first_row[index(thread.process)], thread.host.first);
    for (uint32_t row = thread.host.first; row < thread.host.last; ++row)
      greatest = std::max<uint64_t>(greatest, trace.host[row].correlation);
  }
  for (const Stream& stream : trace.streams) {
    for (uint32_t row = stream.operations.first; row < stream.operations.last; ++row) {
      uint64_t& greatest = last[index(trace.device(stream.device).process)];
      greatest = std::max<uint64_t>(greatest, trace.operations[row].correlation);
    }
  }
  for (size_t p = 0; p < last.size(); ++p) last[p] += 1 - uint64_t{first_row[p]};
  return last;
}

}  // namespace

ChromeIds::ChromeIds(const Trace& trace) : free_from_(free_correlations(trace)) {
  std::set<uint64_t> pids;
  for (const Process& each : trace.processes) process.push_back(free_id(each.pid, pids));
  for (const Device& each : trace.devices) device.push_back(free_id(each.ordinal, pids));

  std::map<uint64_t, std::set<uint64_t>> tids;  // by pid
  for (const Thread& each : trace.threads) thread.push_back(free_id(each.tid, tids[process[index(each.process)]]));

  std::map<std::pair<uint32_t, uint32_t>, uint32_t> uses;  // (device, stream number) -> number of contexts that have it
  for (const Stream& each : trace.streams) {
    if (each.operations.size() != 0) ++uses[{index(each.device), each.number}];
  }
  lanes.resize(trace.streams.size());
  for (const bool extra : {false, true}) {  // every stream's own number before any extra lane
    for (size_t s = 0; s < trace.streams.size(); ++s) {
      const Stream& each = trace.streams[s];
      if (each.operations.size() == 0) continue;
      std::set<uint64_t>& used = tids[device[index(each.device)]];
      if (!extra) {
        lanes[s].push_back(free_id(each.number, used));
        continue;
      }
      LaneFinder finder;
      for (uint32_t row = each.operations.first; row < each.operations.last; ++row) finder.lane(trace.operations[row]);
      while (lanes[s].size() < finder.lanes()) lanes[s].push_back(free_id(each.number + kStep, used));
    }
  }
  for (const uint64_t pid : device) counter_tracks.push_back(free_id(kCounterTrack, tids[pid]));
  for (const Stream& each : trace.streams) {
    const bool shared = each.operations.size() != 0 && uses[{index(each.device), each.number}] > 1;
    stream_names.push_back(shared ? fmt::format("context {} stream {}", each.context, each.number)
                                  : fmt::format("stream {}", each.number));
  }
}

}  // namespace prof::analyzer
