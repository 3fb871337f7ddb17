// How far are the clocks of the hosts apart? Collective operations show it. The result is in Trace::clocks with a bound
// of its error, and all times of the model are put on the clock of one host.
//
// Each matched operation (collective_match.h) gives observations for each pair of clocks; clock_fit.h finds the limits
// that meet all of them:
//   1. Order. In an all-reduce, all-gather, reduce-scatter, all-to-all or barrier, no rank ends before every rank has
//      started: end of i >= start of j. In a broadcast, scatter or send this holds for i and the root, in a reduce or
//      gather for the root and j. It bounds one side only. It always holds.
//   2. Ends. After the last rank has started, all ranks need nearly the same time. So the ends of an operation of the
//      first kind are apart by at most the time of its shortest kernel, which waited least (or the latency of a message
//      to each rank, if that is more). A rank that is late in every operation bounds no clock from the other side by
//      rule 1, so rule 2 is needed to tell a late rank from a clock that is ahead. It is used with three operations
//      or more, and if all observations agree with it.
// With rule 1 alone, the recorded wall time is kept as far as it is within the limits. With rule 2, the middle is used,
// unless the recorded time is nearly as certain. A drift is assumed only if no constant difference is nearly as
// certain; then durations are unchanged.
//
// Clocks that have no operation with the reference are measured by those that have; the bounds add up.
#pragma once

#include "analyzer/analysis/collectives/collective_match.h"
#include "analyzer/model/host_clock.h"
#include "analyzer/model/trace.h"
#include "analyzer/table/table.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace prof::analyzer {

// Fills Trace::clocks and moves all times. Nothing changes if the input has one clock, or no matched operations. The
// reference is the host of the lowest rank. Returns a line for the user; empty if nothing was moved.
std::string align_clocks(Trace& trace);

// Who recorded times with a clock: a process.
struct ClockOwner {
  std::string host;  // empty: not known, so that the process has a clock of its own
  std::optional<uint32_t> rank;
  std::string source;  // file of the process
};

// A kernel with its recorded times, and the clock that recorded them.
struct ClockedKernel {
  uint32_t clock = 0;
  int64_t start_ns = 0, end_ns = 0;
};

// For times that are not in a model. Appends the clocks of the owners, and to `clock_of` the clock of each owner.
// Returns the reference.
uint32_t list_clocks(const std::vector<ClockOwner>& owners, std::vector<HostClock>& clocks,
                     std::vector<uint32_t>& clock_of);
// Measures the clocks by the reference. `kernel` has the times of a CollectiveEvidence::row.
void estimate_clocks(const CollectiveMatches& matches, const std::function<ClockedKernel(uint32_t)>& kernel,
                     uint32_t reference, std::vector<HostClock>& clocks);

// The most by which a difference of two times at about `time_ns` is wrong because the processes have different clocks,
// in ns. nullopt: nothing is known about one of the clocks. 0: one clock.
std::optional<int64_t> clock_bound_ns(const Trace& trace, ProcessId a, ProcessId b, int64_t time_ns);

// Lines about the clocks: what was matched, then one per clock. Of more than `most` clocks, the least known ones are
// listed. None if the input has one clock.
inline constexpr size_t kMostClockLines = 40, kFewClockLines = 8;
std::vector<std::string> clock_lines(const Trace& trace, size_t most = kMostClockLines);
// The same as header lines of a report that compares times of several processes.
void add_clock_notes(Table& table, const Trace& trace, size_t most = kFewClockLines);

}  // namespace prof::analyzer
