// Prototypes of driver functions that the toolkit's headers may be too old for. With them, a program that was built
// with a newer toolkit is recorded too. Pointers to types of the newer headers are void* here, because nothing reads
// what they point to. It runs in the program.
#pragma once

#include <cuda.h>
#include <cudaProfiler.h>

extern "C" {

CUresult CUDAAPI cuProfilerInitialize(const char* configFile, const char* outputFile, CUoutput_mode outputMode);

#if CUDA_VERSION < 13010
CUresult CUDAAPI cuLaunchHostFunc_v2(CUstream stream, CUhostFn function, void* data, unsigned sync_mode);
CUresult CUDAAPI cuLaunchHostFunc_v2_ptsz(CUstream stream, CUhostFn function, void* data, unsigned sync_mode);
CUresult CUDAAPI cuMulticastBindAddr_v2(CUmemGenericAllocationHandle multicast, CUdevice device, size_t offset,
                                        CUdeviceptr memory, size_t size, unsigned long long flags);
CUresult CUDAAPI cuMulticastBindMem_v2(CUmemGenericAllocationHandle multicast, CUdevice device, size_t offset,
                                       CUmemGenericAllocationHandle memory, size_t memory_offset, size_t size,
                                       unsigned long long flags);
CUresult CUDAAPI cuStreamBeginCaptureToCig(CUstream stream, void* params);
CUresult CUDAAPI cuStreamBeginCaptureToCig_ptsz(CUstream stream, void* params);
CUresult CUDAAPI cuStreamEndCaptureToCig(CUstream stream);
CUresult CUDAAPI cuStreamEndCaptureToCig_ptsz(CUstream stream);
#endif

#if CUDA_VERSION < 13020
CUresult CUDAAPI cuMemcpyWithAttributesAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUmemcpyAttributes* how,
                                             CUstream stream);
CUresult CUDAAPI cuMemcpyWithAttributesAsync_ptsz(CUdeviceptr to, CUdeviceptr from, size_t size,
                                                  CUmemcpyAttributes* how, CUstream stream);
CUresult CUDAAPI cuMemcpy3DWithAttributesAsync(CUDA_MEMCPY3D_BATCH_OP* copy, unsigned long long flags, CUstream stream);
CUresult CUDAAPI cuMemcpy3DWithAttributesAsync_ptsz(CUDA_MEMCPY3D_BATCH_OP* copy, unsigned long long flags,
                                                    CUstream stream);
#endif

#if CUDA_VERSION < 13030
CUresult CUDAAPI cuStreamBeginRecaptureToGraph(CUstream stream, CUstreamCaptureMode mode, CUgraph graph, void* callback,
                                               void* data);
CUresult CUDAAPI cuStreamBeginRecaptureToGraph_ptsz(CUstream stream, CUstreamCaptureMode mode, CUgraph graph,
                                                    void* callback, void* data);
CUresult CUDAAPI cuLogicalEndpointCreate(cuuint32_t id, const void* properties);
CUresult CUDAAPI cuLogicalEndpointAddDevice(cuuint32_t id, CUdevice device);
CUresult CUDAAPI cuLogicalEndpointBindMem(cuuint32_t id, CUdevice device, cuuint64_t offset,
                                          CUmemGenericAllocationHandle memory, cuuint64_t memory_offset,
                                          cuuint64_t size, unsigned long long flags);
CUresult CUDAAPI cuLogicalEndpointBindAddr(cuuint32_t id, CUdevice device, cuuint64_t offset, void* memory,
                                           cuuint64_t size, unsigned long long flags);
CUresult CUDAAPI cuLogicalEndpointUnbind(cuuint32_t id, CUdevice device, cuuint64_t offset, cuuint64_t size);
CUresult CUDAAPI cuLogicalEndpointImport(cuuint32_t id, const void* handle, int handle_type);
CUresult CUDAAPI cuLogicalEndpointDestroy(cuuint32_t id);
#endif

#if CUDA_VERSION < 13040
CUresult CUDAAPI cuGraphAddNode_v3(CUgraphNode* node, CUgraph graph, const CUgraphNode* from,
                                   const CUgraphEdgeData* edges, size_t count, CUgraphNodeParams* params);
CUresult CUDAAPI cuGraphNodeSetParams_v2(CUgraphNode node, CUgraphNodeParams* params);
CUresult CUDAAPI cuCheckpointOperationComplete(void* operation);
#endif

#if CUDA_VERSION < 13050
CUresult CUDAAPI cuFabricCpyBatchAsync(size_t count, void* list, unsigned long long flags, CUstream stream);
CUresult CUDAAPI cuFabricCpyBatchAsync_ptsz(size_t count, void* list, unsigned long long flags, CUstream stream);
#endif

}  // extern "C"
