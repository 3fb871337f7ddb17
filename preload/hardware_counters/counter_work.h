// Which operations are measured by hardware counters, around one launch or around an NVTX range (PROF_COUNTERS_OF)? An
// operation that is not measured is counted with its reason. Hooks call it while hardware_counters_on() is true
// (counter_recording.h), in the program.
#pragma once

#include "preload/format/loss_counters.h"
#include "preload/hardware_counters/counter_recording.h"

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>

namespace prof::preload {

// Called when a recording starts; reads the options.
void open_counters(const GpuActivityCalls& gpu_activity);

// What a launch submits.
struct LaunchedWork {
  enum class Kind { Kernel, Graph, Kernels } kind;  // Kernels: on several devices at once
  CUfunction function;
  CUstream stream;
};

// One launch. `slot` is null if it is not measured; `why` is then counted if the launch succeeds.
struct CounterSlot;
struct MeasuredLaunch {
  CounterSlot* slot = nullptr;
  std::optional<format::LossCounter> why;
};
MeasuredLaunch begin_measured_launch(const LaunchedWork& work);  // right before the real call
void end_measured_launch(const MeasuredLaunch& launch);          // right after it
void keep_measured_launch(const MeasuredLaunch& launch, bool launched, uint64_t end_tick);  // after its record
// Used instead of keep_measured_launch() if nothing may be recorded any more.
void drop_measured_launch(const MeasuredLaunch& launch);

// PROF_COUNTERS_OF=nvtx:NAME. Called after the record of a push and before that of a pop.
extern std::atomic<bool> g_counter_ranges;
void set_counters_of_ranges(bool on);
inline bool counters_of_ranges() { return g_counter_ranges.load(std::memory_order_relaxed); }
void counter_range_pushed(const void* domain, std::string_view domain_name, std::string_view name, uint64_t tick);
void counter_range_popped(const void* domain);

}  // namespace prof::preload
