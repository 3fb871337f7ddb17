// Which parts of cupti.h compile together with cuda.h under __CUDA_API_VERSION_INTERNAL? (cupti.h itself declares some
// of cuda.h's old structs again.) All code of capture/ and hardware_counters/ that needs CUPTI includes this file.
#pragma once

#include <cuda.h>

#include <cupti_result.h>
#include <cupti_version.h>

// CUDA 12.6 introduced the range profiler; with older headers there are no hardware counters.
#if __has_include(<cupti_range_profiler.h>)
#define PROF_RANGE_PROFILER 1
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#else
#define PROF_RANGE_PROFILER 0
#endif
// CUDA 12.6 introduced PM sampling too.
#if PROF_RANGE_PROFILER && __has_include(<cupti_pmsampling.h>)
#define PROF_PM_SAMPLING 1
#include <cupti_pmsampling.h>
#else
#define PROF_PM_SAMPLING 0
#endif

// CUDA 11.3 introduced PC sampling.
#if __has_include(<cupti_pcsampling.h>)
#define PROF_CUPTI_PC_SAMPLING 1
#include <cupti_pcsampling.h>
#else
#define PROF_CUPTI_PC_SAMPLING 0
#endif

#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <cupti_driver_cbid.h>
#include <cupti_runtime_cbid.h>
