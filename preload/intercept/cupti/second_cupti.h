// Another CUPTI in the program comes behind ours: a second libcupti, or one that is linked into a library which was loaded late. The driver
// lets in the first CUPTI of a process, for good: also when that one was disabled, finalised or unloaded, any other gets
// CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED (CUPTI 12.1 to 13.0, driver 580, an H200, 2026-11-26). So that profiler has no records
// whatever we do; ours go on, and what can be done is to say whose it is and what helps. Once a process. In the program.
#pragma once

namespace prof::preload {

// `function`, named `name`, of a libcupti was called from `caller`. Nothing if it is ours, or if CUPTI was never opened.
void notice_second_library(const void* function, const char* name, const void* caller);

// What every CUPTI asks the driver for before anything else; CUDA run times may, too.
inline constexpr char kDriverTables[] = "cuGetExportTable";
// The code around `caller` asks for that. Looks into its object as take_gpu_activity() does into those that are there by then; once for each
// object in turn, some milliseconds.
void look_for_second_cupti(const void* caller);

}  // namespace prof::preload
