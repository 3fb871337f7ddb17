// What did the threads that feed the GPU do between their calls? Samples of them (PROF_HOST_SAMPLES), and the intervals
// in which the kernel ran them. Only logs have them.
#pragma once

#include "analyzer/base/column.h"
#include "analyzer/base/strings.h"
#include "analyzer/model/row_ids.h"
#include "analyzer/model/stack_table.h"
#include "preload/format/host_events.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace prof::analyzer {

using format::BlockedIn;
using format::HostState;

// One row a sample, by thread, then by time.
struct HostSamples {
  Column<ThreadId> thread;
  Column<int64_t> time_ns;
  Column<HostState> state;
  Column<BlockedIn> blocked_in;
  Column<StringId> detail;  // the file, the thread that is waited for …; 0: none
  Column<StackId> stack;    // 0: no stack

  size_t size() const { return time_ns.size(); }
  bool empty() const { return time_ns.empty(); }
};

// By thread, then by begin. The intervals of a thread do not overlap. Between two of them its state is not known.
struct ThreadStates {
  Column<ThreadId> thread;
  Column<int64_t> begin_ns, end_ns;
  Column<HostState> state;

  size_t size() const { return begin_ns.size(); }
  bool empty() const { return begin_ns.empty(); }
};

// From when on the threads of a process are sampled, and how often.
struct HostSamplingRate {
  ProcessId process{};
  int64_t from_ns = 0;
  double period_ns = 0;       // mean; 0: sampling stopped
  bool starved_only = false;  // only while the GPUs seem to wait for the program
  bool without_perf = false;  // no perf events: no states, and samples from /proc only
};

// A process that has the other end of a pipe or socket open for which a sampled thread waits.
struct PipeHolder {
  ProcessId waiting{};              // the process with the sampled thread
  StringId pipe{};                  // as in HostSamples::detail: "pipe:[7]"
  uint32_t pid = 0;                 // of the holder, as the waiting process sees it
  StringId command{};               // command line of the holder; 0: not known
  std::optional<ProcessId> holder;  // the process of its log, if that is proven; else its log is not in the input
  int64_t found_ns = 0;
};

struct HostSampling {
  HostSamples samples;
  ThreadStates states;
  std::vector<HostSamplingRate> rates;  // by process, then by time
  std::vector<PipeHolder> holders;      // by waiting process, then by time
  double period_ns = 0;                 // mean of the first rate; 0: host samples were not recorded
  bool starved_only = false;            // of the first rate
};

}  // namespace prof::analyzer
