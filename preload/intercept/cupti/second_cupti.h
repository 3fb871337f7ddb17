// Does another CUPTI in the program start after ours? It may be a second libcupti, or one that is linked into a library
// that was loaded late. The driver accepts only the first CUPTI of a process. Any other gets
// CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, also after the first was disabled, finalised or unloaded (CUPTI 12.1
// to 13.0, driver 580, an H200, 2026-11-26).
//
// The other profiler therefore gets no records, whatever libprof.so does. Our records are complete. libprof.so reports
// once per process which library the second CUPTI is in and what helps. It runs in the program.
#pragma once

namespace prof::preload {

// `function`, named `name`, of a libcupti was called from `caller`. Does nothing if that libcupti is ours, or if CUPTI
// was never opened.
void notice_second_library(const void* function, const char* name, const void* caller);

// The driver function that every CUPTI requests first. CUDA runtimes may request it, too.
inline constexpr char kDriverTables[] = "cuGetExportTable";
// The code around `caller` requests kDriverTables. Searches its object for a CUPTI, as take_gpu_activity() searches the
// objects that are loaded at that time. Once for each object in turn; a search takes some milliseconds.
void look_for_second_cupti(const void* caller);

}  // namespace prof::preload
