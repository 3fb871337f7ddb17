// How much memory is in use over time? All allocations and releases in the input, per process and device, matched by
// address. The source is torch.profiler's allocator events if a process has them, else the allocation calls of prof's
// logs. Used by memory, memory-ops, memory-trace and the trace's counters. Definitions: docs/reports/memory.md. O(n log
// n).
#pragma once

#include "analyzer/analysis/analysis.h"

#include <cstdint>
#include <vector>

namespace prof::analyzer {

struct MemoryChange {
  int64_t time_ns = 0;
  int64_t bytes = 0;            // negative: released
  int64_t live = 0;             // bytes in use after the change
  uint32_t thread = kNone;      // row of Trace::threads
  uint32_t range = kNone;       // row of Trace::ranges: the innermost range at that time, without Python's
  uint32_t allocation = kNone;  // of a release: index of the allocation; kNone: it was before the recording
  uint32_t call = kNone;        // row of Trace::host; kNone: reported by the framework's allocator
  uint32_t pool = 0;            // row of Trace::memory_pools
  bool release() const { return bytes < 0 || allocation != kNone; }
};

struct MemoryTimeline {
  enum Place : uint8_t {
    OnDevice,
    OnHost,
    SomeDevice
  } place = OnDevice;  // SomeDevice: the calls name neither device nor stream
  uint32_t process = 0;
  uint32_t device = 0;                // ordinal, OnDevice
  bool from_allocator = false;        // of the framework's allocator, not of CUDA calls
  int64_t at_start = 0;               // in use before the first change, if the allocator reported it
  uint64_t unknown_releases = 0;      // of memory allocated before the recording; their size may be unknown
  std::vector<MemoryChange> changes;  // ordered by time

  // Index of the selected change after which the most memory was in use; kNone if there is no selected change.
  uint32_t peak(const Selection& selection) const;
};

// of_ranges: whether the change's call, or its moment on its thread, is in the ranges of --nvtx. selects_change: also
// whether it is in the window. Selected threads are not considered.
bool of_ranges(const Selection& selection, const MemoryChange& change);
bool selects_change(const Selection& selection, const MemoryChange& change);

std::vector<MemoryTimeline> memory_timelines(const AnalysisInput& input);

// The timeline split by pool, each with its own `live`: memory of no pool first, then default pools, then the program's
// pools. Empty if no allocation came from a pool.
struct PoolTimeline {
  uint32_t pool = 0;  // row of Trace::memory_pools
  MemoryTimeline timeline;
};
std::vector<PoolTimeline> timelines_of_pools(const Trace& trace, const MemoryTimeline& timeline);

// "default", "pool 1", "pool 2 (imported)", "none"
std::string pool_text(const Trace& trace, uint32_t pool);

// "device 0", "host", "device"
std::string place_text(const MemoryTimeline& timeline);

}  // namespace prof::analyzer
