// Which code took the time of a piece of a gap? Called by the reports about idle time that show code.
#pragma once

#include "analyzer/analysis/idle/gap_division.h"
#include "analyzer/analysis/stacks/call_stacks.h"

namespace prof::analyzer {

// The stack of the call that the thread was in. Outside of calls: the stack of the Python function or operator, else
// the frames that the calls before and after the piece have in common, because the thread was in these functions all
// the time. If there are none, the code that made the later call, or the late launch.
inline StackId stack_of_piece(CallStacks& stacks, const DeviceGap& gap, const GapPiece& piece) {
  const auto of_call = [&](uint32_t call) { return call == kNone ? StackId{} : stacks.of_call(call); };
  if (piece.call != kNone || piece.thread == kNone) {  // the device's part belongs to the launch
    const StackId stack = of_call(piece.call != kNone ? piece.call : piece.waits_call);
    return stack != StackId{} ? stack : of_call(gap.launch);
  }
  if (piece.range != kNone) {
    if (const StackId stack = stacks.of_range(piece.range); stack != StackId{}) return stack;
  }
  StackId after = of_call(piece.call_after);
  if (const StackId stack = stacks.merged().common(of_call(piece.call_before), after); stack != StackId{}) return stack;
  if (after == StackId{}) after = of_call(gap.launch);
  return stacks.merged().common(after, after);
}

}  // namespace prof::analyzer
