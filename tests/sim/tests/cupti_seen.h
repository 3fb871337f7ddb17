// Collects what the simulated CUPTI delivers, for the simulator's own tests.
#pragma once
#include <cupti.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <mutex>
#include <vector>

#include "tests/sim/sim_program.h"

namespace cupti_seen {

struct Seen {
  std::mutex mutex;
  std::vector<CUpti_ActivityKernel10> kernels;
  std::vector<CUpti_ActivityMemcpy6> copies;
  std::vector<CUpti_ActivityMemcpyPtoP4> peer_copies;
  std::vector<CUpti_ActivityMemset4> fills;
  std::vector<CUpti_ActivityAPI> calls;
  std::vector<CUpti_ActivityExternalCorrelation> external;
  std::vector<CUpti_ActivityGraphTrace2> graphs;
  int buffers = 0;
};
inline Seen seen;
inline size_t buffer_bytes = 64 * 1024;

inline void request(uint8_t** buffer, size_t* size, size_t* max_records) {
  *size = buffer_bytes;
  *buffer = static_cast<uint8_t*>(aligned_alloc(8, buffer_bytes));
  *max_records = 0;
}

inline void complete(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  std::lock_guard<std::mutex> lock(seen.mutex);
  ++seen.buffers;
  CUpti_Activity* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    switch (record->kind) {
      case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        seen.kernels.push_back(*reinterpret_cast<CUpti_ActivityKernel10*>(record));
        break;
      case CUPTI_ACTIVITY_KIND_MEMCPY: seen.copies.push_back(*reinterpret_cast<CUpti_ActivityMemcpy6*>(record)); break;
      case CUPTI_ACTIVITY_KIND_MEMCPY2:
        seen.peer_copies.push_back(*reinterpret_cast<CUpti_ActivityMemcpyPtoP4*>(record));
        break;
      case CUPTI_ACTIVITY_KIND_MEMSET: seen.fills.push_back(*reinterpret_cast<CUpti_ActivityMemset4*>(record)); break;
      case CUPTI_ACTIVITY_KIND_RUNTIME:
      case CUPTI_ACTIVITY_KIND_DRIVER: seen.calls.push_back(*reinterpret_cast<CUpti_ActivityAPI*>(record)); break;
      case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
        seen.graphs.push_back(*reinterpret_cast<CUpti_ActivityGraphTrace2*>(record));
        break;
      case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
        seen.external.push_back(*reinterpret_cast<CUpti_ActivityExternalCorrelation*>(record));
        break;
      default: ADD_FAILURE() << "record of kind " << record->kind;
    }
  }
  free(buffer);
}

inline size_t kernels_seen() {
  std::lock_guard<std::mutex> lock(seen.mutex);
  return seen.kernels.size();
}

inline uint64_t sim_clock() { return sim_now_ns(); }

inline void start(bool launches = true) {
  EXPECT_EQ(cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM), CUPTI_SUCCESS);
  EXPECT_EQ(cuptiActivityRegisterTimestampCallback(sim_clock), CUPTI_SUCCESS);
  EXPECT_EQ(cuptiActivityRegisterCallbacks(request, complete), CUPTI_SUCCESS);
  for (auto kind : {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET}) {
    EXPECT_EQ(cuptiActivityEnable(kind), CUPTI_SUCCESS);
  }
  if (!launches) return;
  for (uint32_t cbid : {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch}) {
    EXPECT_EQ(cuptiActivityEnableDriverApi(cbid, 1), CUPTI_SUCCESS);
  }
}

}  // namespace cupti_seen
