// How long does one kernel take, and how evenly? One launch of the program is repeated in its place, with the same
// arguments (PROF_REPEAT_KERNEL). This code decides which launch that is. Hooks call it only while the launch is
// awaited, on the path that opens CUPTI. This code runs in the program.
#pragma once

#include "preload/record/kept_fills.h"

#include <cstdint>

namespace prof::preload {

// Called when a recording starts: reads the option. If it names a kernel, launches take the path that calls this code.
void open_repeats();
bool repeats_awaited();  // whether the launch is still awaited

// Whether this thread's launch may be the awaited one.
bool awaits_repeated_kernel();
// A launch of the kernel `name` (null: not known) is about to be made. Returns how many more times it must be made; 0:
// it is not the awaited launch. Until repeat_is_over(), no launch of this thread is checked.
uint32_t repeat_count_of(const char* name);
void repeat_is_over();

// Called around a fill while the launch is awaited, until repeat_is_over(). Before that, the caller drops kept fills of
// another stream.
void begin_fill();
void keep_fill(const KeptFill& fill, const void* stream, uint32_t null_stream);
void clear_fills();
void clear_fills_of_others(const void* stream, uint32_t null_stream);  // that are on another stream
// Repeats the kept fills and adds their number to `made`. Returns the first CUresult that is not CUDA_SUCCESS,
// otherwise CUDA_SUCCESS.
int repeat_kept_fills(uint32_t& made);

// The driver refused repetition `number` of `times` with this CUresult. Reports it once.
void report_repeat_error(uint32_t number, uint32_t times, int result);

// Writes the text of the range around the repeated launches. Null-terminated, cut if `text` is full.
void describe_repeats(char* text, uint32_t bytes);

}  // namespace prof::preload
