#include "preload/capture/cupti/gpu_ids.h"

#include "preload/capture/cupti/cupti_last_error.h"
#include "preload/capture/cupti/cupti_library.h"
#include "preload/capture/cupti/gpu_state.h"
#include "preload/driver/driver.h"

namespace prof::preload {

namespace {

// Calls one query function of CUPTI. False: CUPTI is not in use, lacks the function or has no answer.
template <auto Cupti::*function, class... Args> bool ask(Args... args) {
  const Cupti* const cupti = cupti_in_use();
  if (cupti == nullptr || cupti->*function == nullptr) return false;
  const CuptiCall call;
  const KeepCuptiError keep;
  return (cupti->*function)(args...) == CUPTI_SUCCESS;
}

}  // namespace

uint32_t gpu_context_of(CUcontext context) {
  uint32_t id = 0;
  return ask<&Cupti::cuptiGetContextId>(context, &id) ? id : 0;
}

bool gpu_stream_of(CUcontext context, CUstream stream, bool per_thread, uint32_t& gpu_stream) {
  return ask<&Cupti::cuptiGetStreamIdEx>(context, stream, static_cast<uint8_t>(per_thread ? 1 : 0), &gpu_stream);
}

bool gpu_device_of(CUcontext context, uint32_t& device) { return ask<&Cupti::cuptiGetDeviceId>(context, &device); }

uint32_t gpu_graph_of(CUgraph graph) {
  uint32_t id = 0;
  return graph != nullptr && ask<&Cupti::cuptiGetGraphId>(graph, &id) ? id : 0;
}

uint32_t gpu_graph_of(CUgraphExec graph) {
  uint32_t id = 0;
  return graph != nullptr && ask<&Cupti::cuptiGetGraphExecId>(graph, &id) ? id : 0;
}

uint64_t gpu_node_of(CUgraphNode node) {
  uint64_t id = 0;
  return node != nullptr && ask<&Cupti::cuptiGetGraphNodeId>(node, &id) ? id : 0;
}

}  // namespace prof::preload
