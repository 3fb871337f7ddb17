// Which struct reads a record of each kind? Records of every CUPTI since CUDA 11.0 start like today's, up to the last
// field that is read. One struct per kind therefore reads them all; fields that an older library lacks are not read.
// Compile-time checks compare every older struct. cupti_records.cpp and cupti_client_copy.cpp include this file.
#pragma once

#include "preload/capture/cupti/cupti_headers.h"

#include <cstddef>
#include <cstdint>

namespace prof::preload {

using KernelRecord = CUpti_ActivityKernel10;
using CopyRecord = CUpti_ActivityMemcpy6;
using PeerRecord = CUpti_ActivityMemcpyPtoP4;
using FillRecord = CUpti_ActivityMemset4;
using GraphRecord = CUpti_ActivityGraphTrace2;
using UnifiedRecord = CUpti_ActivityUnifiedMemoryCounter2;  // every later struct has more fields after it

inline constexpr uint32_t kGraphIdSince = 14;  // API version of CUDA 11.1; node ids came with 11.0, the oldest we read

namespace layout {

#define PROF_SAME(field) (offsetof(New, field) == offsetof(Old, field) && sizeof(New::field) == sizeof(Old::field))

template <class New, class Old>
constexpr bool operation = PROF_SAME(kind) && PROF_SAME(start) && PROF_SAME(end) && PROF_SAME(deviceId) &&
                           PROF_SAME(contextId) && PROF_SAME(streamId) && PROF_SAME(correlationId) &&
                           PROF_SAME(graphNodeId);
template <class New, class Old>
constexpr bool kernel = operation<New, Old>&& PROF_SAME(registersPerThread) && PROF_SAME(gridX) && PROF_SAME(gridY) &&
                        PROF_SAME(gridZ) && PROF_SAME(blockX) && PROF_SAME(blockY) && PROF_SAME(blockZ) &&
                        PROF_SAME(staticSharedMemory) && PROF_SAME(dynamicSharedMemory) && PROF_SAME(completed) &&
                        PROF_SAME(queued) && PROF_SAME(submitted) && PROF_SAME(localMemoryPerThread) &&
                        PROF_SAME(name) && PROF_SAME(launchType);
template <class New, class Old>
constexpr bool copy = operation<New, Old>&& PROF_SAME(copyKind) && PROF_SAME(srcKind) && PROF_SAME(dstKind) &&
                      PROF_SAME(bytes);
template <class New, class Old> constexpr bool peer = copy<New, Old>&& PROF_SAME(srcDeviceId) && PROF_SAME(dstDeviceId);
template <class New, class Old>
constexpr bool fill = operation<New, Old>&& PROF_SAME(value) && PROF_SAME(bytes) && PROF_SAME(memoryKind);
template <class New, class Old> constexpr bool graph = PROF_SAME(graphId);

template <class New, class Old>
constexpr bool graph_trace = PROF_SAME(kind) && PROF_SAME(correlationId) && PROF_SAME(start) && PROF_SAME(end) &&
                             PROF_SAME(deviceId) && PROF_SAME(graphId) && PROF_SAME(contextId) && PROF_SAME(streamId);

#undef PROF_SAME

static_assert(kernel<KernelRecord, CUpti_ActivityKernel5> && kernel<KernelRecord, CUpti_ActivityKernel6> &&
              kernel<KernelRecord, CUpti_ActivityKernel7> && kernel<KernelRecord, CUpti_ActivityKernel8> &&
              kernel<KernelRecord, CUpti_ActivityKernel9>);
static_assert(graph<KernelRecord, CUpti_ActivityKernel5> && graph<KernelRecord, CUpti_ActivityKernel6> &&
              graph<KernelRecord, CUpti_ActivityKernel7> && graph<KernelRecord, CUpti_ActivityKernel8> &&
              graph<KernelRecord, CUpti_ActivityKernel9>);
static_assert(copy<CopyRecord, CUpti_ActivityMemcpy3> && copy<CopyRecord, CUpti_ActivityMemcpy4> &&
              copy<CopyRecord, CUpti_ActivityMemcpy5>);
static_assert(graph<CopyRecord, CUpti_ActivityMemcpy4> && graph<CopyRecord, CUpti_ActivityMemcpy5>);
static_assert(peer<PeerRecord, CUpti_ActivityMemcpyPtoP2> && peer<PeerRecord, CUpti_ActivityMemcpyPtoP3> &&
              graph<PeerRecord, CUpti_ActivityMemcpyPtoP3>);
static_assert(fill<FillRecord, CUpti_ActivityMemset2> && fill<FillRecord, CUpti_ActivityMemset3> &&
              graph<FillRecord, CUpti_ActivityMemset3>);

static_assert(graph_trace<GraphRecord, CUpti_ActivityGraphTrace>);

}  // namespace layout

}  // namespace prof::preload
