// Where does a range of another tool's trace end if its own end is missing?
//
// A function returns before its caller does. So a Python function that outlasts the Python function in which it began
// has lost its end (the profiler writes the end of the trace instead), and ends where its caller ends. So does any
// other range that was never closed, except NVTX ranges.
#pragma once

#include "analyzer/model/trace.h"

#include <cstdint>

namespace prof::analyzer {

// Closes such ranges of one thread: push/pop ranges sorted by start, enclosing ones first. Sets Range::closed_early.
// Returns their number; if it is not 0, ranges with equal starts may not be in order any more.
uint64_t close_open_ranges(Trace& trace, Rows rows);

}  // namespace prof::analyzer
