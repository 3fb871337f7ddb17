#include "analyzer/analysis/memory_timeline.h"

#include "analyzer/model/call_class.h"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>

namespace prof::analyzer {

namespace {

using Place = MemoryTimeline::Place;

class Timelines {
 public:
  explicit Timelines(const Trace& trace) : trace_(trace), cursors_(trace.threads.size()) {}

  // `key` tells addresses apart; size of a release 0: as much as was allocated there.
  void change(Place place, uint32_t process, uint32_t device, ThreadId thread, int64_t time_ns, int64_t bytes,
              bool release, uint64_t key, bool from_allocator, uint64_t allocated) {
    const auto [found, added] = of_place_.try_emplace({process, place, device}, timelines_.size());
    if (added) {
      MemoryTimeline& fresh = timelines_.emplace_back();
      fresh.place = place, fresh.process = process, fresh.device = device, fresh.from_allocator = from_allocator;
      if (allocated == 0 || allocated > INT64_MAX ||
          __builtin_sub_overflow(static_cast<int64_t>(allocated), bytes, &fresh.at_start))
        fresh.at_start = 0;
      live_.emplace_back();
    }
    MemoryTimeline& timeline = timelines_[found->second];
    auto& live = live_[found->second];
    MemoryChange row;
    row.time_ns = time_ns, row.bytes = bytes, row.thread = index(thread);
    if (release) {
      const auto made = live.find(key);
      if (made == live.end()) {
        ++timeline.unknown_releases;
        if (bytes == 0) return;
      } else {
        row.allocation = made->second;
        if (bytes == 0) row.bytes = -timeline.changes[made->second].bytes;
        live.erase(made);
      }
    } else {
      live[key] = static_cast<uint32_t>(timeline.changes.size());
    }
    const int64_t before = timeline.changes.empty() ? timeline.at_start : timeline.changes.back().live;
    if (__builtin_add_overflow(before, row.bytes, &row.live)) row.live = before;
    if (row.thread < cursors_.size()) {
      std::unique_ptr<RangeCursor>& cursor = cursors_[row.thread];
      if (cursor == nullptr) cursor = std::make_unique<RangeCursor>(trace_, thread);
      row.range = cursor->at(time_ns);
    }
    timeline.changes.push_back(row);
  }
  // The device on which the address was allocated and is live; kNone: on none.
  uint32_t device_of(uint32_t process, uint64_t key) const {
    for (auto place = of_place_.lower_bound({process, Place::OnDevice, 0});
         place != of_place_.end() && std::get<0>(place->first) == process &&
         std::get<1>(place->first) == Place::OnDevice;
         ++place) {
      if (live_[place->second].contains(key)) return std::get<2>(place->first);
    }
    return kNone;
  }
  std::vector<MemoryTimeline> take() { return std::move(timelines_); }

 private:
  const Trace& trace_;
  std::vector<std::unique_ptr<RangeCursor>> cursors_;
  std::map<std::tuple<uint32_t, Place, uint32_t>, size_t> of_place_;
  std::vector<MemoryTimeline> timelines_;
  std::vector<std::unordered_map<uint64_t, uint32_t>> live_;  // address -> change
};

// Reserved address space holds no memory; registered host memory was there before.
bool moves_memory(std::string_view api) {
  for (const char* part : {"Address", "HostRegister", "HostUnregister"}) {
    if (api.find(part) != std::string_view::npos) return false;
  }
  return true;
}

void add_calls(const Trace& trace, const std::vector<bool>& has_allocator, Timelines& timelines) {
  const CallTable calls_by_name(trace);
  std::vector<uint32_t> devices_of(trace.processes.size()), only_device(trace.processes.size());
  for (const Device& device : trace.devices) {
    ++devices_of[index(device.process)];
    only_device[index(device.process)] = device.ordinal;
  }
  std::vector<uint32_t> calls;
  for (uint32_t row = 0; row < trace.host.size(); ++row) {
    const HostEvent& event = trace.host[row];
    if (event.kind() != HostKind::Allocation || event.result() != 0 || event.live_depth == 0) continue;
    if (!has_allocator[index(trace.thread(event.thread).process)] && moves_memory(trace.api_name(event)))
      calls.push_back(row);
  }
  // Memory can be used from the end of the call that made it; released from the begin of the call that takes it.
  const auto releases = [&](const HostEvent& event) {
    return calls_by_name.role(event) == CallRole::Free || trace.api_name(event).find("Unmap") != std::string_view::npos;
  };
  const auto moment = [&](uint32_t row) {
    return releases(trace.host[row]) ? trace.host[row].begin_ns : trace.host[row].end_ns;
  };
  std::stable_sort(calls.begin(), calls.end(), [&](uint32_t a, uint32_t b) { return moment(a) < moment(b); });
  for (const uint32_t row : calls) {
    const HostEvent& event = trace.host[row];
    const uint32_t process = index(trace.thread(event.thread).process);
    const bool host = trace.api_name(event).find("Host") != std::string_view::npos;
    uint32_t device = devices_of[process] == 1 ? only_device[process] : kNone;
    // With several devices the call's stream or context says which; what it allocated is released there, too.
    if (device == kNone && !host && releases(event)) device = timelines.device_of(process, event.live_depth);
    if (device == kNone && !host) device = trace.host_streams[index(event.stream)].device;
    timelines.change(host              ? Place::OnHost
                     : device != kNone ? Place::OnDevice
                                       : Place::SomeDevice,
                     process, host || device == kNone ? 0 : device, event.thread, moment(row),
                     static_cast<int64_t>(event.subject & INT64_MAX), releases(event), event.live_depth, false, 0);
  }
}

}  // namespace

uint32_t MemoryTimeline::peak(const Selection& selection) const {
  uint32_t most = kNone;
  for (uint32_t i = 0; i < changes.size(); ++i) {
    if (!selection.in_window(changes[i].time_ns, changes[i].time_ns)) continue;
    if (most == kNone || changes[i].live > changes[most].live) most = i;
  }
  return most;
}

std::vector<MemoryTimeline> memory_timelines(const AnalysisInput& input) {
  const Trace& trace = input.trace;
  Timelines timelines(trace);
  std::vector<bool> has_allocator(trace.processes.size());
  for (const MemoryEvent& event : trace.memory) {
    const uint32_t process = index(trace.thread(event.thread).process);
    has_allocator[process] = true;
    if (event.bytes == 0) continue;
    const bool host = event.device == kNone;
    timelines.change(host ? Place::OnHost : Place::OnDevice, process, host ? 0 : event.device, event.thread,
                     event.time_ns, event.bytes, event.bytes < 0, event.address, true, event.allocated);
  }
  add_calls(trace, has_allocator, timelines);
  std::vector<MemoryTimeline> all = timelines.take();
  std::erase_if(all, [&](const MemoryTimeline& timeline) {
    if (!input.selection.has_process(ProcessId{timeline.process})) return true;
    return !input.selection.devices.empty() &&
           (timeline.place != Place::OnDevice ||
            std::find(input.selection.devices.begin(), input.selection.devices.end(), timeline.device) ==
                input.selection.devices.end());
  });
  return all;
}

std::string place_text(const MemoryTimeline& timeline) {
  if (timeline.place == Place::OnHost) return "host";
  return timeline.place == Place::OnDevice ? "device " + std::to_string(timeline.device) : "device";
}

}  // namespace prof::analyzer
