// Which callback ids do the functions of newer_api.h have? CUPTI never reuses a number, so an id is valid for every
// version that has the function. launching_calls.cpp includes it. In our namespace the names hide the same names of a
// newer toolkit's header. 0: the header of that toolkit has no name for it.
#pragma once

#include <cstdint>

namespace prof::preload {

enum NewerCallback : uint32_t {
  CUPTI_DRIVER_TRACE_CBID_cuLaunchHostFunc_v2 = 831,
  CUPTI_DRIVER_TRACE_CBID_cuLaunchHostFunc_v2_ptsz = 832,
  CUPTI_DRIVER_TRACE_CBID_cuMulticastBindAddr_v2 = 821,
  CUPTI_DRIVER_TRACE_CBID_cuMulticastBindMem_v2 = 820,
  CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToCig = 783,
  CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToCig_ptsz = 814,
  CUPTI_DRIVER_TRACE_CBID_cuStreamEndCaptureToCig = 815,
  CUPTI_DRIVER_TRACE_CBID_cuStreamEndCaptureToCig_ptsz = 816,
  CUPTI_DRIVER_TRACE_CBID_cuMemcpyWithAttributesAsync = 837,
  CUPTI_DRIVER_TRACE_CBID_cuMemcpyWithAttributesAsync_ptsz = 838,
  CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DWithAttributesAsync = 839,
  CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DWithAttributesAsync_ptsz = 840,
  CUPTI_DRIVER_TRACE_CBID_cuStreamBeginRecaptureToGraph = 846,
  CUPTI_DRIVER_TRACE_CBID_cuStreamBeginRecaptureToGraph_ptsz = 847,
  CUPTI_DRIVER_TRACE_CBID_cuLogicalEndpointCreate = 850,
  CUPTI_DRIVER_TRACE_CBID_cuLogicalEndpointAddDevice = 851,
  CUPTI_DRIVER_TRACE_CBID_cuLogicalEndpointBindMem = 854,
  CUPTI_DRIVER_TRACE_CBID_cuLogicalEndpointBindAddr = 853,
  CUPTI_DRIVER_TRACE_CBID_cuLogicalEndpointUnbind = 855,
  CUPTI_DRIVER_TRACE_CBID_cuLogicalEndpointImport = 857,
  CUPTI_DRIVER_TRACE_CBID_cuLogicalEndpointDestroy = 852,
  CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode_v3 = 863,
  CUPTI_DRIVER_TRACE_CBID_cuGraphNodeSetParams_v2 = 864,
  CUPTI_DRIVER_TRACE_CBID_cuCheckpointOperationComplete = 861,
  CUPTI_DRIVER_TRACE_CBID_cuFabricCpyBatchAsync = 0,
  CUPTI_DRIVER_TRACE_CBID_cuFabricCpyBatchAsync_ptsz = 0,
};

}  // namespace prof::preload
