// Which launches have GPU times if these were taken in bursts (PROF_BUDGET), which burst each belongs to, and which
// launches are of the same kind. Built once per model (Views::bursts); every extrapolation is based on it.
//
//   launches of a process by start   - - - T T T T - - - - - T T T - - -        T: inside a burst
//                                          |burst|           |  2  |            -: flagged as being without GPU times
//
// A launch that was under way when a burst began or ended may have GPU times. Short kernels have them more often than
// long ones, so such a launch counts as not timed: including it would bias the sums.
#pragma once

#include "analyzer/base/column.h"
#include "analyzer/model/trace.h"

#include <cstdint>
#include <string>
#include <vector>

namespace prof::analyzer {

// The value of PROF_BUDGET of the process. Empty if GPU times were not taken in bursts.
std::string budget_of(const Process& process);

class Bursts {
 public:
  explicit Bursts(const Trace& trace);

  // Whether GPU times of the process were taken in bursts.
  bool applies(ProcessId process) const { return applies_[index(process)]; }

  // The kind of a row of Trace::host. The kind of a kernel launch is the kernel's name, of a graph launch the graph,
  // and of a copy or memset the call. Kinds of different processes have different numbers. kNone: the row launches
  // nothing, or GPU times of its process were not taken in bursts.
  uint32_t kind_of(uint32_t launch) const { return launches_.empty() ? kNone : launches_[launch].kind - 1; }
  // The burst that contains the launch from its start to its end; kNone: no burst does.
  uint32_t burst_of(uint32_t launch) const { return launches_.empty() ? kNone : launches_[launch].burst - 1; }

  size_t count() const { return process_of_.size(); }
  uint32_t process_of_burst(uint32_t burst) const { return process_of_[burst]; }  // ProcessId
  uint64_t count(ProcessId process) const;

 private:
  struct Launch {
    uint32_t kind = 0, burst = 0;  // one more than the value that is returned; 0: kNone
  };
  void find(const Trace& trace, ProcessId process);

  Column<Launch> launches_;
  std::vector<bool> applies_;         // by ProcessId
  std::vector<uint32_t> process_of_;  // by burst
  uint32_t kinds_ = 0;
};

}  // namespace prof::analyzer
