// PROF_BUDGET: GPU times are taken in bursts. Which launches were timed, in which burst, and what launches of one kind are: found once a
// model (Views::bursts) and the base of every extrapolation.
//
//   launches of a process by begin   - - - T T T T - - - - - T T T - - -        T: a burst held all of it
//                                          |burst|           |  2  |            -: flagged as being without GPU times
//
// A launch under way when a burst began or ended may have GPU times by luck, short kernels rather than long ones: it counts as not timed.
#pragma once

#include "analyzer/base/column.h"
#include "analyzer/model/trace.h"

#include <cstdint>
#include <string>
#include <vector>

namespace prof::analyzer {

// PROF_BUDGET of the process; empty: all of it was timed, or nothing.
std::string budget_of(const Process& process);

class Bursts {
 public:
  explicit Bursts(const Trace& trace);

  // GPU times of the process were taken in bursts.
  bool applies(ProcessId process) const { return applies_[index(process)]; }

  // Of a row of Trace::host. Launches are told apart by what they launch: kernels by name, graphs each for itself, copies and fills by
  // their call; numbers are those of one process. kNone: it launches nothing, or all of its process was timed.
  uint32_t kind_of(uint32_t launch) const { return launches_.empty() ? kNone : launches_[launch].kind - 1; }
  // The burst that held it from its begin to its end; kNone: none did.
  uint32_t burst_of(uint32_t launch) const { return launches_.empty() ? kNone : launches_[launch].burst - 1; }

  size_t count() const { return process_of_.size(); }
  uint32_t process_of_burst(uint32_t burst) const { return process_of_[burst]; }  // ProcessId
  uint64_t count(ProcessId process) const;

 private:
  struct Launch {
    uint32_t kind = 0, burst = 0;  // one more than what is said; 0: kNone
  };
  void find(const Trace& trace, ProcessId process);

  Column<Launch> launches_;
  std::vector<bool> applies_;         // by ProcessId
  std::vector<uint32_t> process_of_;  // by burst
  uint32_t kinds_ = 0;
};

}  // namespace prof::analyzer
