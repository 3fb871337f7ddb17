// Memory over time: every allocation and release that the input knows, per process and device, joined by address. From the
// allocator's events of torch.profiler where a process has them, else from the allocation calls of our logs. For memory,
// memory-ops, memory-trace and the trace's counters. Definitions: docs/reports/memory.md. O(n log n).
#pragma once

#include "analyzer/analysis/analysis.h"

#include <cstdint>
#include <vector>

namespace prof::analyzer {

struct MemoryChange {
  int64_t time_ns = 0;
  int64_t bytes = 0;            // released: < 0
  int64_t live = 0;             // afterwards
  uint32_t thread = kNone;      // row of Trace::threads
  uint32_t range = kNone;       // row of Trace::ranges: the innermost (but Python's) then
  uint32_t allocation = kNone;  // of a release: index of the change that it undoes; kNone: made before the recording
  uint32_t call = kNone;        // row of Trace::host; kNone: the framework's allocator said so
  uint32_t pool = 0;            // row of Trace::memory_pools: where it came from
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
  bool from_allocator = false;        // the framework's allocator, not CUDA's calls
  int64_t at_start = 0;               // live before the first change, where the allocator said so
  uint64_t unknown_releases = 0;      // of memory allocated before the recording: their size may not be known
  std::vector<MemoryChange> changes;  // by time

  // Index of the change after which most was live inside the selection, kNone if nothing changed.
  uint32_t peak(const Selection& selection) const;
};

// By a call, or at a moment, of the ranges asked for; that, and in the window. Threads are not asked about.
bool of_ranges(const Selection& selection, const MemoryChange& change);
bool selects_change(const Selection& selection, const MemoryChange& change);

std::vector<MemoryTimeline> memory_timelines(const AnalysisInput& input);

// The same by pool, each with its own `live`: memory of no pool first, then default pools, then the program's. Empty: no
// allocation came from a pool.
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
