// One launch of the program made again where it was made, with the same arguments (PROF_REPEAT_KERNEL): how long does this kernel take, and
// how evenly? Which launch that is is decided here; hooks come by only while it is awaited, by the path that opens CUPTI. In the program.
#pragma once

#include "preload/record/kept_fills.h"

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

// Around a fill while the launch is awaited, until repeat_is_over(). What is kept of another stream is to be forgotten before.
void begin_fill();
void keep_fill(const KeptFill& fill, const void* stream, uint32_t null_stream);
void clear_fills();
void clear_fills_of_others(const void* stream, uint32_t null_stream);  // that are not on this stream
// Adds how many it made to `made`; the first CUresult that is no success, else success.
int make_fills_again(uint32_t& made);

// Repetition `number` of `times` was refused with this CUresult: says so, once.
void repeating_failed(uint32_t number, uint32_t times, int result);

// What the range around the launches that repeat it says; null-terminated, cut where `text` is full.
void describe_repeats(char* text, uint32_t bytes);

}  // namespace prof::preload
