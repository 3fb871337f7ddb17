// Code whose unwind rules the recorder's own walk does not support: libunwind finds every caller.
// Env: PROF_GPU=off PROF_STACKS=launch
// Expect: status 0
// Expect: stderr empty
// Expect: log 1: 2 stack(^launches < hard_with_frame_pointer < run < main < [^!]*$), 2 stack(^launches < hard_without < framed < run < main < [^!]*$)
// Expect: log 1: 2 stack(^launches < hard_without_any < framed < run < main < [^!]*$), 0 stack(!), counter stack_unwinder_missing 0, counter stacks_broken 0, whole, 0 lost
#include "tests/e2e/programs/stacks/hard_frames.h"

int main() { return hard_frames::run(); }
