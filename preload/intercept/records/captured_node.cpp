#include "preload/intercept/records/captured_node.h"

#include "preload/capture/cupti/gpu_ids.h"
#include "preload/driver/driver.h"
#include "preload/intercept/records/graph_node_records.h"

namespace prof::preload {

namespace {

CUresult ask_capture(CUstream stream, CUstreamCaptureStatus* status, CUgraph* graph, const CUgraphNode** nodes,
                     size_t* count) {
  const DriverCall own;
#if CUDA_VERSION >= 12030
  // cuStreamGetCaptureInfo_v2 fails if edges carry data (programmatic dependent launch).
  const CUgraphEdgeData* edges = nullptr;
  if (g_driver.cuStreamGetCaptureInfo_v3 != nullptr)
    return g_driver.cuStreamGetCaptureInfo_v3(stream, status, nullptr, graph, nodes, &edges, count);
#endif
  if (g_driver.cuStreamGetCaptureInfo_v2 == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  return g_driver.cuStreamGetCaptureInfo_v2(stream, status, nullptr, graph, nodes, count);
}

// The nodes that the next node of a capturing stream depends on. After a call that added an operation, they are what it
// added.
struct CaptureInfo {
  bool active = false;
  CUgraph graph = nullptr;
  const CUgraphNode* last = nullptr;  // memory of the driver, valid until the next call on this capture
  size_t count = 0;

  explicit CaptureInfo(CUstream stream) {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    const CUresult result = ask_capture(stream, &status, &graph, &last, &count);
    active = result == CUDA_SUCCESS && status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
    if (!active) count = 0;
  }
};

}  // namespace

__attribute__((noinline)) void record_captured_node(const CallScope& scope, const StreamState* state, CUstream stream) {
  const CaptureInfo info(named_stream(state, stream));
  if (info.count == 0) count_unidentified();
  for (size_t i = 0; i < info.count; ++i) record_node(scope, info.last[i], 0);
}

void record_capture_graph(const CallScope& scope, const StreamState* state, CUstream stream) {
  const CaptureInfo info(named_stream(state, stream));
  if (info.active) record_graph(scope, format::GraphOrigin::Empty, gpu_graph_of(info.graph), 0);
}

void record_captured_graph(const CallScope& scope, const StreamState* state, CUstream stream, CUgraphExec exec) {
  const CaptureInfo info(named_stream(state, stream));
  if (info.count == 1) record_child(scope, info.last[0], gpu_graph_of(exec), nullptr);
}

}  // namespace prof::preload
