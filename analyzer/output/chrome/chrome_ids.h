// Which process and thread ids does a Chrome trace have? Kineto's ids if they are free: the system's pid and tid, the
// device's ordinal as pid, the stream's number as tid. If two objects would have the same id, the later one gets the
// next free id in steps of 10,000,000. Kernels that overlap in a stream are written on extra lanes, because slices of
// one track must nest.
#pragma once

#include "analyzer/model/trace.h"

#include <string>
#include <vector>

namespace prof::analyzer {

struct ChromeIds {
  std::vector<uint64_t> process;             // ProcessId -> pid
  std::vector<uint64_t> thread;              // ThreadId -> tid
  std::vector<uint64_t> device;              // DeviceId -> pid
  std::vector<std::vector<uint64_t>> lanes;  // StreamId -> tids, the stream's own first
  std::vector<uint64_t> counter_tracks;      // DeviceId -> tid of the hardware counters of its kernels
  std::vector<std::string> stream_names;     // StreamId -> "stream 7", with the context if a number is used twice

  explicit ChromeIds(const Trace& trace);

  // Tracks of a GPU beside its streams: waits of a host thread, and ranges of a stream that would cross others on its
  // own track.
  static uint64_t sync_track(ThreadId thread) { return 1'500'000'000 + index(thread); }
  // The track of a thread's host samples under its process. No thread of Linux has such a number.
  static uint64_t host_sample_track(ThreadId thread) { return 1'750'000'000 + index(thread); }
  static uint64_t range_track(StreamId stream, uint64_t nth) {
    return 2'000'000'000 + uint64_t{index(stream)} * 4096 + nth;
  }

  // The correlation id of a call: the recorded id or, without one, an id that nothing else in its process has. CUPTI
  // gives an id to every call, and readers join by it. Returns 0 if no id is left.
  uint64_t call(ProcessId of, const HostEvent& event, uint32_t row) const {
    const uint64_t own = event.correlation != 0 ? event.correlation : free_from_[index(of)] + row;
    return own <= UINT32_MAX ? correlation(of, static_cast<uint32_t>(own)) : 0;
  }

  // Correlation and flow ids: as recorded in the first process, made unique in all others.
  static uint64_t correlation(ProcessId process, uint32_t correlation) {
    return uint64_t{index(process)} << 32 | correlation;
  }

 private:
  std::vector<uint64_t> free_from_;  // ProcessId -> value to add to the row of a call to get an id; modulo 2^64
};

// The lane of each operation of a stream: the first lane that is free at its start.
class LaneFinder {
 public:
  uint32_t lane(const GpuOperation& operation) {
    uint32_t at = 0;
    while (at < free_from_ns_.size() && free_from_ns_[at] > operation.start_ns) ++at;
    if (at == free_from_ns_.size()) free_from_ns_.push_back(0);
    free_from_ns_[at] = operation.end_ns;
    return at;
  }
  uint32_t lanes() const { return static_cast<uint32_t>(free_from_ns_.size()); }

 private:
  std::vector<int64_t> free_from_ns_;
};

}  // namespace prof::analyzer
