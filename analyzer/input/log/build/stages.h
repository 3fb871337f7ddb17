// The steps after decoding, in the order in which build_trace() calls them. Offline, inside the builder only.
#pragma once

#include "analyzer/input/log/build/staging.h"
#include "analyzer/input/unusable_times.h"

#include <optional>
#include <vector>

namespace prof::analyzer {

// Converts times and remembers its position in the clock's map. One per task.
struct ClockReader {
  const LogClock& clock;
  LogClock::Hint tick_hint = 0, gpu_hint = 0;
  int64_t tick(uint64_t tick) { return static_cast<int64_t>(clock.ns(tick, tick_hint)); }
  int64_t gpu(uint64_t cupti_ns) { return static_cast<int64_t>(clock.gpu_ns(cupti_ns, gpu_hint)); }
  static int64_t gpu_end(int64_t start_ns, uint64_t duration) {
    return static_cast<int64_t>(LogClock::gpu_end_ns(static_cast<uint64_t>(start_ns), duration));
  }
};

// Calls of one process as CUPTI recorded them, grouped by kind and system thread id.
struct CallGroup {
  uint64_t key = 0;  // call_group()
  size_t first = 0, last = 0;
};
struct ProcessCalls {
  Column<DriverCall> rows;
  std::vector<CallGroup> groups;
};

// Assigns places to all rows and decodes all blocks into them: host events by thread, GPU operations by stream, both
// sorted, times in ns. `calls` gets one entry per input. Throws InputError if a log has changed since the survey.
void place_events(std::vector<LogInput>& inputs, std::vector<LogTask>& tasks, Trace& trace,
                  std::vector<ProcessCalls>& calls, unsigned workers);

// Pairs pushes with pops and starts with ends. Builds the tree of paths and each thread's path changes. Frees the
// tasks' NVTX rows.
void nest_nvtx(const std::vector<LogInput>& inputs, std::vector<LogTask>& tasks, Trace& trace);

// Gives threads, devices and streams the program's names, and keeps all such names. After name_threads().
void take_names(const std::vector<LogInput>& inputs, std::vector<LogTask>& tasks, Trace& trace);

// Collects NVTX samples of the program's counters, by counter and time.
void take_samples(const std::vector<LogInput>& inputs, std::vector<LogTask>& tasks, Trace& trace);

// Determines the rate of the program's own clocks (LogInput::clocks). Before any step below that reads their time
// stamps.
void read_clocks(std::vector<LogInput>& inputs, const std::vector<LogTask>& tasks);

// Converts a time stamp of the program to the model's time line; nullopt: its clock cannot be converted.
std::optional<int64_t> stamp_ns(const LogInput& input, format::StampClock clock, uint64_t stamp);

// Sets Process::nvtx_times_unknown for the coverage line. After all stamps are read.
void count_unknown_times(Trace& trace);

// Collects the records of all tasks about graphs and values in memory, and finds the call of each. After
// place_events().
void place_beside(std::vector<LogTask>& tasks, Trace& trace);

// The order that arguments_of() needs.
void sort_by_call(std::vector<CallDetails>& rows);

// Collects events of managed memory.
void place_unified(const std::vector<LogInput>& inputs, std::vector<LogTask>& tasks, Trace& trace);

// Joins values of hardware counters to their launch or range, and makes GPU operations of launches without other times.
// After nest_nvtx() and before correlate(), because their correlation ids follow those of CUPTI.
void place_counters(const std::vector<LogInput>& inputs, std::vector<LogTask>& tasks,
                    const std::vector<ProcessCalls>& calls, Trace& trace);

// Collects hardware samples, by GPU and time.
void place_samples(const std::vector<LogInput>& inputs, std::vector<LogTask>& tasks, Trace& trace);

// Orders host samples and states by thread and time.
void place_host_samples(const std::vector<LogInput>& inputs, std::vector<LogTask>& tasks, Trace& trace);

// Orders PC samples by process and time.
void place_pc_samples(const std::vector<LogInput>& inputs, std::vector<LogTask>& tasks, Trace& trace);

// Joins driver calls to launches by containment, and GPU operations to launches by correlation id. Sets the part of
// each process's Coverage about operations. `calls` is freed. Removes operations whose time cannot be true, and returns
// them. `mark`: the trace before the logs.
std::vector<UnusableOperation> correlate(std::vector<ProcessCalls>& calls, Trace& trace, const ImportMark& mark,
                                         unsigned workers);

// Sets the part of each process's Coverage about launches. After correlate(). `unusable`: what that removed.
void count_launches(Trace& trace, const std::vector<UnusableOperation>& unusable, unsigned workers);

// Makes one row of each call of the CUDA runtime and the driver call inside it. Trace::inner_apis then has the driver
// call's name. `outer`, by index of Trace::apis, marks runtime calls. GPU operations and nodes of graphs follow their
// call's row.
void join_runtime_calls(const std::vector<bool>& outer, Trace& trace, unsigned workers);

}  // namespace prof::analyzer
