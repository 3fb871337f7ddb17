// Which GPU operations and events of a log or of another tool's trace have a time that cannot be true? They are
// removed, so that no window, sum or mean contains them. Each is counted with its reason.
//
// not timed                 CUPTI gives 0 for both stamps if it could not measure an operation.
// impossible on one stream  A stream runs its operations in order. An operation during which two later ones of its
//                           stream ran one after the other has a wrong end. A kernel may overlap the next one
//                           (programmatic dependent launch), and so may operations of one launch and those of graphs.
// on another clock          An operation cannot start before its launch, nor wait for longer than everything that the
//                           host and the GPU do in the trace.
#pragma once

#include "analyzer/input/import.h"
#include "analyzer/model/trace.h"

#include <cstdint>
#include <vector>

namespace prof::analyzer {

// Importers set both stamps of an operation to this if the file has no time for it.
inline constexpr int64_t kNotTimedNs = INT64_MIN;

// A cheap test that every operation of a log without a usable time meets: such a log must be screened. `launch`: its
// call, or null. `later`: the second next operation of its stream by start, or null.
bool may_be_unusable(const GpuOperation& operation, const HostEvent* launch, const GpuOperation* later);

// An operation that is not in the model because of its time.
struct UnusableOperation {
  uint32_t row = 0;        // of Trace::operations before the removal
  GpuOperation operation;  // as it was
  UnusableTime reason{};
};

// Why a launch has no GPU operation if that of all its operations is the reason.
LaunchReason launch_reason(UnusableTime time);

// Removes calls, ranges and marks whose stamps are both 0 while all other events are far away from 0. Counts them in
// Coverage::events_not_timed. Must be called before other tables refer to rows of these tables.
void remove_untimed_events(Trace& trace, const ImportMark& mark, int64_t zero_realtime_ns);

// Removes the operations without a usable time and counts them in the coverage of their processes. The rows of calls
// and operations must be in the order of the model, and operations must have their launch. The rows of streams must be
// cut again afterwards. Returns what it removed, by row.
std::vector<UnusableOperation> remove_unusable_operations(Trace& trace, const ImportMark& mark,
                                                          int64_t zero_realtime_ns);

// Describes in Process::partial what the coverage of each new process counts as without a usable time.
void describe_unusable(Trace& trace, const ImportMark& mark);

}  // namespace prof::analyzer
