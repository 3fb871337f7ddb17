// The parts of cupti.h that can stand beside cuda.h compiled with __CUDA_API_VERSION_INTERNAL (cupti.h itself declares some of
// cuda.h's old structs again). Everything in capture/ that needs CUPTI includes this.
#pragma once

#include <cuda.h>

#include <cupti_result.h>
#include <cupti_version.h>

#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <cupti_driver_cbid.h>
#include <cupti_runtime_cbid.h>
