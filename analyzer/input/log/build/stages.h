// Offline, inside the builder only: the steps after decoding, in the order in which build_trace() calls them.
#pragma once

#include "analyzer/input/log/build/staging.h"

#include <optional>
#include <vector>

namespace prof::analyzer {

// Keeps where in the clock's map it was last. One per task.
struct ClockReader {
  const LogClock& clock;
  LogClock::Hint tick_hint = 0, gpu_hint = 0;
  int64_t tick(uint64_t tick) { return static_cast<int64_t>(clock.ns(tick, tick_hint)); }
  int64_t gpu(uint64_t cupti_ns) { return static_cast<int64_t>(clock.gpu_ns(cupti_ns, gpu_hint)); }
  static int64_t gpu_end(int64_t start_ns, uint64_t duration) {
    return static_cast<int64_t>(LogClock::gpu_end_ns(static_cast<uint64_t>(start_ns), duration));
  }
};

// Calls of one process as CUPTI saw them, grouped by sort and system thread id.
struct CallGroup {
  uint64_t key = 0;  // call_group()
  size_t first = 0, last = 0;
};
struct ProcessCalls {
  Column<DriverCall> rows;
  std::vector<CallGroup> groups;
};

// Gives every row its place and decodes all blocks into them: host events by thread, GPU operations by stream, both sorted,
// times in ns. `calls` gets one entry per input. Throws InputError if a log changed since the survey.
void place_events(std::vector<LogInput>& inputs, std::vector<LogTask>& tasks, Trace& trace,
                  std::vector<ProcessCalls>& calls, unsigned workers);

// Pairs pushes with pops and starts with ends, builds the tree of paths and each thread's path changes. Frees the tasks' NVTX rows.
void nest_nvtx(const std::vector<LogInput>& inputs, std::vector<LogTask>& tasks, Trace& trace);

// Gives threads, devices and streams the names that the program gave them, and keeps all such names. After name_threads().
void take_names(const std::vector<LogInput>& inputs, std::vector<LogTask>& tasks, Trace& trace);

// Samples of the program's counters, by counter and time.
void take_samples(const std::vector<LogInput>& inputs, std::vector<LogTask>& tasks, Trace& trace);

// How the program's own clocks run (LogInput::clocks). Before anything below reads a time stamp of them.
void read_clocks(std::vector<LogInput>& inputs, const std::vector<LogTask>& tasks);

// A time stamp of the program's own on the model's time line; nullopt: its clock cannot be converted.
std::optional<int64_t> stamp_ns(const LogInput& input, format::StampClock clock, uint64_t stamp);

// For the line about coverage: Process::nvtx_times_unknown. When all stamps have been read.
void count_unknown_times(Trace& trace);

// Collects the records of all tasks about graphs and words of memory and finds the call that each was made by. After
// place_events().
void place_beside(std::vector<LogTask>& tasks, Trace& trace);

// The order in which arguments_of() finds them.
void sort_by_call(std::vector<CallDetails>& rows);

// Collects what happened to managed memory.
void place_unified(const std::vector<LogInput>& inputs, std::vector<LogTask>& tasks, Trace& trace);

// Joins values of hardware counters with their launch or range, and makes GPU operations of launches that have no other times. After
// nest_nvtx(), before correlate(), whose correlation ids theirs come behind.
void place_counters(const std::vector<LogInput>& inputs, std::vector<LogTask>& tasks,
                    const std::vector<ProcessCalls>& calls, Trace& trace);

// Collects samples of hardware counters, by GPU and time.
void place_samples(const std::vector<LogInput>& inputs, std::vector<LogTask>& tasks, Trace& trace);

// Joins driver calls to launches by containment and GPU operations to launches by correlation id; the operations' part of each
// process's Coverage. `calls` is freed.
void correlate(std::vector<ProcessCalls>& calls, Trace& trace, unsigned workers);

// The launches' part of each process's Coverage. After correlate().
void count_launches(Trace& trace, unsigned workers);

// Makes one row of each call of the CUDA run time and the driver call inside it; Trace::inner_apis then has the latter's name.
// `outer` tells by index of Trace::apis which calls are of the run time. GPU operations and nodes of graphs follow their call's row.
void join_runtime_calls(const std::vector<bool>& outer, Trace& trace, unsigned workers);

}  // namespace prof::analyzer
