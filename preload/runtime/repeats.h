// One launch of the program made again where it was made, with the same arguments (PROF_REPEAT_KERNEL): how long does this kernel take, and
// how evenly? Which launch that is is decided here; hooks come by only while it is awaited, by the path that opens CUPTI. In the program.
#pragma once

#include <cstdint>

namespace prof::preload {

// At the start of a life: reads the option, and lets launches come by where it names a kernel.
void open_repeats();
bool repeats_awaited();  // the launch has not come yet

// Whether this thread's launch may be the awaited one.
bool awaits_repeated_kernel();
// A launch of the kernel `name` (null: not known) is about to be made: how many times more it is to be made; 0: it is not the one. Until
// repeat_is_over() no launch of this thread is looked at.
uint32_t repeats_of(const char* name);
void repeat_is_over();

// What the range around the launches that repeat it says; null-terminated, cut where `text` is full.
void describe_repeats(char* text, uint32_t bytes);

}  // namespace prof::preload
