// The same code without libunwind.so.8: the walk follows frame pointers, past functions that keep none, which is
// reported once and counted. If the frame pointers are invalid, the stack ends.
// Link: cupti shim
// Env: PROF_GPU=off PROF_STACKS=launch
// Expect: status 0
// Expect: stderr once libprof: libunwind.so.8 was not found: stacks go on by frame pointers where only it knows the caller
// Expect: stdout 1 line
// Expect: log 1: 2 stack(^launches < hard_with_frame_pointer < run < main < .*!4$), 2 stack(^launches < hard_without < run < main < .*!4$)
// Expect: log 1: 2 stack(^launches < hard_without_any !8$), counter stack_unwinder_missing >=3, counter stacks_broken 1, text key="libunwind" value="not found", whole, 0 lost
// Expect: report launch-apis: stack_unwinder_missing
// Shell: {run} 2> lines; cat lines >&2; echo $(wc -l < lines) line
#include "tests/e2e/programs/stacks/hard_frames.h"

#include <dlfcn.h>

// Otherwise the linker drops the shim, because nothing in it is used.
void* (*volatile dlopen_of_the_shim)(const char*, int) = dlopen;

int main() { return hard_frames::run(); }
