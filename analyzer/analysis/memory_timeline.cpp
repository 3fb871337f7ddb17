#include "analyzer/analysis/memory_timeline.h"

#include "analyzer/model/call_class.h"
#include "preload/format/definitions.h"

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

  // `key` identifies the address. A release of size 0 has the size of the allocation at its address.
  void change(Place place, uint32_t process, uint32_t device, ThreadId thread, int64_t time_ns, int64_t bytes,
              bool release, uint64_t key, bool from_allocator, uint64_t allocated, uint32_t call = kNone,
              uint32_t pool = 0) {
    const auto [found, added] = of_place_.try_emplace({process, place, device}, timelines_.size());
    if (added) {
      MemoryTimeline& fresh = timelines_.emplace_back();
      fresh.place = place;
      fresh.process = process;
      fresh.device = device;
      fresh.from_allocator = from_allocator;
      if (allocated == 0 || allocated > INT64_MAX ||
          __builtin_sub_overflow(static_cast<int64_t>(allocated), bytes, &fresh.at_start))
        fresh.at_start = 0;
      live_.emplace_back();
    }
    MemoryTimeline& timeline = timelines_[found->second];
    auto& live = live_[found->second];
    MemoryChange row;
    row.time_ns = time_ns;
    row.bytes = bytes;
    row.thread = index(thread);
    row.call = call;
    row.pool = pool;
    if (release) {
      const auto made = live.find(key);
      if (made == live.end()) {
        ++timeline.unknown_releases;
        if (bytes == 0) return;
      } else if (made->second == kNone) {
        live.erase(made);
        return;
      } else {
        row.allocation = made->second;
        row.pool = timeline.changes[made->second].pool;
        if (bytes == 0) row.bytes = -timeline.changes[made->second].bytes;
        live.erase(made);
      }
    } else {
      live[key] = bytes == 0 ? kNone : static_cast<uint32_t>(timeline.changes.size());
      if (bytes == 0) return;  // an array without memory of its own: known, but no change
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
  // The context ends: memory that was allocated in it and not from a pool is released.
  void end_context(uint32_t process, uint64_t context, ThreadId thread, int64_t time_ns, uint32_t call) {
    for (auto place = of_place_.lower_bound({process, Place::OnDevice, 0});
         place != of_place_.end() && std::get<0>(place->first) == process; ++place) {
      const MemoryTimeline& timeline = timelines_[place->second];
      std::vector<std::pair<uint32_t, uint64_t>> gone;  // in order of allocation
      for (const auto& [key, made] : live_[place->second]) {
        if (made == kNone) continue;
        const MemoryChange& change = timeline.changes[made];
        if (change.call == kNone || change.pool != 0) continue;
        const HostStream& stream = trace_.host_streams[index(trace_.host[change.call].stream)];
        if (stream.context_handle == context) gone.push_back({made, key});
      }
      std::sort(gone.begin(), gone.end());
      for (const auto& [made, key] : gone)
        change(timeline.place, process, timeline.device, thread, time_ns, 0, true, key, false, 0, call);
    }
  }
  // The timeline in which the address is currently allocated; null: none.
  const MemoryTimeline* holder(uint32_t process, uint64_t key) const {
    for (auto place = of_place_.lower_bound({process, Place::OnDevice, 0});
         place != of_place_.end() && std::get<0>(place->first) == process; ++place) {
      if (live_[place->second].contains(key)) return &timelines_[place->second];
    }
    return nullptr;
  }
  std::vector<MemoryTimeline> take() { return std::move(timelines_); }

 private:
  const Trace& trace_;
  std::vector<std::unique_ptr<RangeCursor>> cursors_;
  std::map<std::tuple<uint32_t, Place, uint32_t>, size_t> of_place_;
  std::vector<MemoryTimeline> timelines_;
  std::vector<std::unordered_map<uint64_t, uint32_t>> live_;  // address -> change; kNone: allocation of no bytes
};

constexpr uint32_t kOnDevice = 1;  // CU_MEM_LOCATION_TYPE_DEVICE; higher numbers are host locations

// A reservation of address space has no memory, and registered host memory existed before.
bool moves_memory(std::string_view api) {
  for (const char* part : {"Address", "HostRegister", "HostUnregister"}) {
    if (api.find(part) != std::string_view::npos) return false;
  }
  return true;
}

// The subject of the call is the context. The release of a primary context is not included, because it may not be the
// last one.
bool ends_context(const Trace& trace, uint32_t row) {
  for (const std::string_view api : {trace.api_name(trace.host[row]), trace.inner_api_name(row)}) {
    if (api.starts_with("cuCtxDestroy") || api.starts_with("cuDevicePrimaryCtxReset")) return true;
  }
  return false;
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
    if (event.result() != 0) continue;
    const bool ends = event.kind() == HostKind::Call && event.subject != 0 && ends_context(trace, row);
    if (!ends && (event.kind() != HostKind::Allocation || event.live_depth == 0)) continue;
    if (!has_allocator[index(trace.thread(event.thread).process)] && moves_memory(trace.api_name(event)))
      calls.push_back(row);
  }
  // An allocation is usable from the end of its call. A release counts from the start of its call.
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
    if (event.kind() == HostKind::Call) {
      timelines.end_context(process, event.subject, event.thread, moment(row), row);
      continue;
    }
    const bool release = releases(event);
    const MemoryPool& pool = trace.memory_pools[event.pool()];
    bool host = trace.api_name(event).find("Host") != std::string_view::npos || pool.location > kOnDevice;
    uint32_t device = kNone;
    // The pool determines the location, else the stream or context of the call. A release is where the allocation was.
    if (const MemoryTimeline* const holder = release ? timelines.holder(process, event.live_depth) : nullptr) {
      host = holder->place == Place::OnHost;
      if (holder->place == Place::OnDevice) device = holder->device;
    } else if (pool.location == kOnDevice) {
      device = pool.place;
    } else {
      device = devices_of[process] == 1 ? only_device[process] : trace.host_streams[index(event.stream)].device;
    }
    timelines.change(host              ? Place::OnHost
                     : device != kNone ? Place::OnDevice
                                       : Place::SomeDevice,
                     process, host || device == kNone ? 0 : device, event.thread, moment(row),
                     static_cast<int64_t>(event.bytes()), release, event.live_depth, false, 0, row, event.pool());
  }
}

}  // namespace

bool of_ranges(const Selection& selection, const MemoryChange& change) {
  return change.call != kNone ? selection.nvtx.has_call(change.call)
                              : selection.nvtx.has_moment(ThreadId{change.thread}, change.time_ns);
}

bool selects_change(const Selection& selection, const MemoryChange& change) {
  return selection.in_window(change.time_ns, change.time_ns) && of_ranges(selection, change);
}

uint32_t MemoryTimeline::peak(const Selection& selection) const {
  uint32_t most = kNone;
  for (uint32_t i = 0; i < changes.size(); ++i) {
    if (!selects_change(selection, changes[i])) continue;
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

std::vector<PoolTimeline> timelines_of_pools(const Trace& trace, const MemoryTimeline& timeline) {
  std::map<std::pair<uint32_t, uint32_t>, PoolTimeline> parts;  // by number in the process and row
  std::vector<uint32_t> place(timeline.changes.size());         // index of each change in its part
  for (size_t i = 0; i < timeline.changes.size(); ++i) {
    const MemoryChange& change = timeline.changes[i];
    PoolTimeline& part = parts[{trace.memory_pools[change.pool].number, change.pool}];
    if (part.timeline.changes.empty()) {
      part.timeline = {timeline.place, timeline.process, timeline.device, timeline.from_allocator, 0, 0, {}};
      part.pool = change.pool;
    }
    const int64_t before = part.timeline.changes.empty() ? 0 : part.timeline.changes.back().live;
    place[i] = static_cast<uint32_t>(part.timeline.changes.size());
    MemoryChange& row = part.timeline.changes.emplace_back(change);
    if (__builtin_add_overflow(before, row.bytes, &row.live)) row.live = before;
    if (row.allocation != kNone) row.allocation = place[row.allocation];
  }
  std::vector<PoolTimeline> all;
  if (parts.empty() || (parts.size() == 1 && parts.begin()->second.pool == 0)) return all;
  for (auto& [key, part] : parts) all.push_back(std::move(part));
  return all;
}

std::string pool_text(const Trace& trace, uint32_t pool) {
  if (pool == 0) return "none";
  const MemoryPool& row = trace.memory_pools[pool];
  if (row.origin == static_cast<uint32_t>(format::PoolOrigin::Default)) return "default";
  std::string text = "pool " + std::to_string(row.number);
  if (row.origin == static_cast<uint32_t>(format::PoolOrigin::Imported)) text += " (imported)";
  if (row.origin == static_cast<uint32_t>(format::PoolOrigin::Unknown)) text += " (older)";
  return text;
}

std::string place_text(const MemoryTimeline& timeline) {
  if (timeline.place == Place::OnHost) return "host";
  return timeline.place == Place::OnDevice ? "device " + std::to_string(timeline.device) : "device";
}

}  // namespace prof::analyzer
