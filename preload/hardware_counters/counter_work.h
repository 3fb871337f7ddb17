// Hardware counters around one launch, or around an NVTX range (PROF_COUNTERS_OF): which work is measured, and the
// counted reason of work that is not. Called by hooks while hardware_counters_on() (counter_recording.h). In the
// program.
#pragma once

#include "preload/format/loss_counters.h"
#include "preload/hardware_counters/counter_recording.h"

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>

namespace prof::preload {

// The start of a life reads the options.
void open_counters(const GpuActivityCalls& gpu_activity);

// What a launch launches.
struct LaunchedWork {
  enum class Kind { Kernel, Graph, Kernels } kind;  // Kernels: on several devices at once
  CUfunction function;
  CUstream stream;
};

// One launch; `slot` is null where it is not measured, and then there is a reason, counted if it succeeds.
struct CounterSlot;
struct MeasuredLaunch {
  CounterSlot* slot = nullptr;
  std::optional<format::LossCounter> why;
};
MeasuredLaunch begin_measured_launch(const LaunchedWork& work);  // right before the real call
void end_measured_launch(const MeasuredLaunch& launch);          // right behind it
void keep_measured_launch(const MeasuredLaunch& launch, bool launched, uint64_t end_tick);  // behind its record
// The same where nothing may be recorded any more.
void drop_measured_launch(const MeasuredLaunch& launch);

// PROF_COUNTERS_OF=nvtx:NAME. Behind the record of a push, in front of that of a pop.
extern std::atomic<bool> g_counter_ranges;
inline bool counters_of_ranges() { return g_counter_ranges.load(std::memory_order_relaxed); }
void counter_range_pushed(const void* domain, std::string_view domain_name, std::string_view name, uint64_t tick);
void counter_range_popped(const void* domain);

}  // namespace prof::preload
