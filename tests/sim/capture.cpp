// Stream capture: begin, end, info, mode exchange, and what invalidates a capture. Rules in capture.h.
#include "tests/sim/capture.h"

#include <algorithm>
#include <list>

#include "tests/sim/api_call.h"

namespace sim {
namespace {

std::list<std::unique_ptr<Capture>>& captures() {
  static auto* const all = new std::list<std::unique_ptr<Capture>>;
  return *all;
}
std::atomic<int> g_captures{0};  // number of captures; the common answer, none, takes no lock
unsigned long long g_next_capture = 1;
thread_local CUstreamCaptureMode tl_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

void release(Capture* capture) {
  for (Capture::Branch& one : capture->branches) {
    if (one.stream == nullptr) continue;
    one.stream->capture = nullptr;
    one.stream->capturing.store(false);
  }
  captures().remove_if([&](const std::unique_ptr<Capture>& one) { return one.get() == capture; });
  g_captures.store(static_cast<int>(captures().size()));
}

CUresult begin(CUstream handle, CUstreamCaptureMode mode, Graph* into, const std::vector<Node*>& after) {
  Stream* stream = resolve_stream(handle);
  if (stream == nullptr) return why_no_stream();
  if (stream->kind == Stream::Kind::Legacy) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  Lock lock(device_mutex());
  if (stream->capture != nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  auto made = std::make_unique<Capture>();
  made->id = g_next_capture++;
  made->mode = mode;
  made->thread = std::this_thread::get_id();
  made->origin = stream;
  made->owns_graph = into == nullptr;
  made->graph = into == nullptr ? make_graph() : into;
  made->branches.push_back({stream, after, {}});
  stream->capture = made.get();
  stream->capturing.store(true);
  captures().push_back(std::move(made));
  g_captures.store(static_cast<int>(captures().size()));
  return CUDA_SUCCESS;
}

// A query of the legacy stream is refused while a blocking stream captures, but it invalidates nothing.
CUresult legacy_is_usable(const Stream* stream) {
  for (const std::unique_ptr<Capture>& one : captures()) {
    if (one->origin->context == stream->context && (one->origin->flags & CU_STREAM_NON_BLOCKING) == 0)
      return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  }
  return CUDA_SUCCESS;
}

CUresult info(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph, const CUgraphNode** nodes,
              const CUgraphEdgeData** edges, size_t* count) {
  Stream* stream = resolve_stream(handle);
  if (stream == nullptr) return why_no_stream();
  if (status == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *status = CU_STREAM_CAPTURE_STATUS_NONE;
  Lock lock(device_mutex());
  if (stream->kind == Stream::Kind::Legacy) return legacy_is_usable(stream);
  Capture* capture = stream->capture;
  if (capture == nullptr) return CUDA_SUCCESS;
  if (capture->invalidated) {
    *status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
    return CUDA_SUCCESS;
  }
  *status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  if (id != nullptr) *id = capture->id;
  if (graph != nullptr) *graph = handle_of<CUgraph>(capture->graph);
  if (edges != nullptr) *edges = nullptr;
  Capture::Branch* branch = capture->branch(stream);
  branch->reported.clear();
  for (Node* one : branch->last) {
    // Edges from here would have data; a caller that does not request the data is refused.
    if (nodes != nullptr && edges == nullptr && one->work.overlaps) return CUDA_ERROR_LOSSY_QUERY;
    branch->reported.push_back(handle_of<CUgraphNode>(one));
  }
  if (nodes != nullptr) *nodes = branch->reported.data();
  if (count != nullptr) *count = branch->reported.size();
  return CUDA_SUCCESS;
}

CUresult update_dependencies(CUstream handle, CUgraphNode* nodes, size_t count, unsigned flags) {
  Stream* stream = resolve_stream(handle);
  if (stream == nullptr) return why_no_stream();
  Lock lock(device_mutex());
  if (stream->capture == nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  std::vector<Node*>& last = stream->capture->branch(stream)->last;
  if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES) last.clear();
  for (size_t i = 0; i < count; ++i) last.push_back(object<Node>(nodes[i]));
  return CUDA_SUCCESS;
}

}  // namespace

Capture::Branch* Capture::branch(Stream* stream) {
  for (Branch& one : branches) {
    if (one.stream == stream) return &one;
  }
  return nullptr;
}

CUresult allow_unsafe_call() {
  if (g_captures.load(std::memory_order_acquire) == 0 || tl_mode == CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_SUCCESS;
  Lock lock(device_mutex());
  CUresult result = CUDA_SUCCESS;
  for (const std::unique_ptr<Capture>& one : captures()) {
    const bool own = one->thread == std::this_thread::get_id();
    const bool forbids = own ? one->mode != CU_STREAM_CAPTURE_MODE_RELAXED
                             : one->mode == CU_STREAM_CAPTURE_MODE_GLOBAL && tl_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
    if (!forbids) continue;
    one->invalidated = true;
    result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  return result;
}

CUresult allow_legacy_use(Lock&, Stream* stream) {
  if (g_captures.load(std::memory_order_acquire) == 0 || stream->kind != Stream::Kind::Legacy) return CUDA_SUCCESS;
  CUresult result = CUDA_SUCCESS;
  for (const std::unique_ptr<Capture>& one : captures()) {
    if (one->origin->context != stream->context) continue;
    if ((one->origin->flags & CU_STREAM_NON_BLOCKING) != 0) continue;
    one->invalidated = true;
    result = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  }
  return result;
}

bool context_has_capture(Context* context) {
  for (const std::unique_ptr<Capture>& one : captures()) {
    if (one->origin->context == context) return true;
  }
  return false;
}

void invalidate_captures(Context* context) {
  for (const std::unique_ptr<Capture>& one : captures()) {
    if (one->origin->context == context) one->invalidated = true;
  }
}

CUresult refuse_captured(Stream* stream) {
  if (stream->capture == nullptr) return CUDA_SUCCESS;
  stream->capture->invalidated = true;
  return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

CUresult capture_work(Stream* stream, Work work, const NodeArguments& arguments, Node** made) {
  Capture* capture = stream->capture;
  if (capture->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  Capture::Branch* branch = capture->branch(stream);
  Node* node = add_node(capture->graph, branch->last, arguments, std::move(work));
  branch->last.assign(1, node);
  if (made != nullptr) *made = node;
  return CUDA_SUCCESS;
}

CUresult capture_event_record(Stream* stream, Event* event) {
  if (stream->capture->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  event->capture = stream->capture;
  event->captured = stream->capture->branch(stream)->last;
  event->operation = nullptr;
  return CUDA_SUCCESS;
}

CUresult capture_event_wait(Stream* stream, Event* event) {
  Capture* theirs = event->capture;
  if (theirs != nullptr && std::none_of(captures().begin(), captures().end(),
                                        [&](const std::unique_ptr<Capture>& one) { return one.get() == theirs; })) {
    return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;  // recorded in a capture that has ended
  }
  if (stream->capture != nullptr && stream->capture->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (theirs == nullptr) {
    stream->capture->invalidated = true;
    return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
  }
  if (theirs->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (stream->capture != nullptr && stream->capture != theirs) {
    stream->capture->invalidated = theirs->invalidated = true;
    return CUDA_ERROR_STREAM_CAPTURE_MERGE;
  }
  if (stream->kind == Stream::Kind::Legacy) {
    theirs->invalidated = true;
    return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  }
  if (stream->capture == nullptr) {
    theirs->branches.push_back({stream, {}, {}});
    stream->capture = theirs;
    stream->capturing.store(true);
  }
  std::vector<Node*>& last = theirs->branch(stream)->last;
  for (Node* one : event->captured) {
    if (std::find(last.begin(), last.end(), one) == last.end()) last.push_back(one);
  }
  return CUDA_SUCCESS;
}

}  // namespace sim

SIM_API(cuStreamBeginCapture)(CUstream hStream) { return begin(hStream, CU_STREAM_CAPTURE_MODE_GLOBAL, nullptr, {}); }

SIM_API(cuStreamBeginCapture_v2)(CUstream hStream, CUstreamCaptureMode mode) {
  return begin(hStream, mode, nullptr, {});
}

SIM_API(cuStreamBeginCaptureToGraph)
(CUstream hStream, CUgraph hGraph, const CUgraphNode* dependencies, const CUgraphEdgeData*, size_t numDependencies,
 CUstreamCaptureMode mode) {
  if (hGraph == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::vector<Node*> after;
  for (size_t i = 0; i < numDependencies; ++i) after.push_back(object<Node>(dependencies[i]));
  return begin(hStream, mode, object<Graph>(hGraph), after);
}

SIM_API(cuStreamEndCapture)(CUstream hStream, CUgraph* phGraph) {
  Stream* stream = resolve_stream(hStream);
  if (stream == nullptr) return why_no_stream();
  if (phGraph == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *phGraph = nullptr;
  Lock lock(device_mutex());
  Capture* capture = stream->capture;
  if (capture == nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  if (capture->origin != stream) {
    capture->invalidated = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  }
  if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread != std::this_thread::get_id()) {
    capture->invalidated = true;
    return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  }
  CUresult result = capture->invalidated ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
  if (result == CUDA_SUCCESS) {
    // Joined: the end of every branch is reachable from the last nodes of the origin stream.
    std::set<Node*> reached;
    std::vector<Node*> open = capture->branch(stream)->last;
    while (!open.empty()) {
      Node* one = open.back();
      open.pop_back();
      if (reached.insert(one).second) open.insert(open.end(), one->after.begin(), one->after.end());
    }
    for (const Capture::Branch& branch : capture->branches) {
      for (Node* one : branch.last) {
        if (reached.count(one) == 0) result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
      }
    }
  }
  if (result == CUDA_SUCCESS) {
    *phGraph = handle_of<CUgraph>(capture->graph);
  } else if (capture->owns_graph) {
    delete capture->graph;
  }
  release(capture);
  return result;
}

SIM_API(cuStreamIsCapturing)(CUstream hStream, CUstreamCaptureStatus* captureStatus) {
  return info(hStream, captureStatus, nullptr, nullptr, nullptr, nullptr, nullptr);
}

SIM_API(cuStreamGetCaptureInfo)(CUstream hStream, CUstreamCaptureStatus* captureStatus_out, cuuint64_t* id_out) {
  return info(hStream, captureStatus_out, id_out, nullptr, nullptr, nullptr, nullptr);
}

SIM_API(cuStreamGetCaptureInfo_v2)
(CUstream hStream, CUstreamCaptureStatus* captureStatus_out, cuuint64_t* id_out, CUgraph* graph_out,
 const CUgraphNode** dependencies_out, size_t* numDependencies_out) {
  return info(hStream, captureStatus_out, id_out, graph_out, dependencies_out, nullptr, numDependencies_out);
}

SIM_API(cuStreamGetCaptureInfo_v3)
(CUstream hStream, CUstreamCaptureStatus* captureStatus_out, cuuint64_t* id_out, CUgraph* graph_out,
 const CUgraphNode** dependencies_out, const CUgraphEdgeData** edgeData_out, size_t* numDependencies_out) {
  return info(hStream, captureStatus_out, id_out, graph_out, dependencies_out, edgeData_out, numDependencies_out);
}

SIM_API(cuStreamUpdateCaptureDependencies)
(CUstream hStream, CUgraphNode* dependencies, size_t numDependencies, unsigned int flags) {
  return update_dependencies(hStream, dependencies, numDependencies, flags);
}

SIM_API(cuStreamUpdateCaptureDependencies_v2)
(CUstream hStream, CUgraphNode* dependencies, const CUgraphEdgeData*, size_t numDependencies, unsigned int flags) {
  return update_dependencies(hStream, dependencies, numDependencies, flags);
}

SIM_API(cuThreadExchangeStreamCaptureMode)(CUstreamCaptureMode* mode) {
  if (mode == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::swap(*mode, tl_mode);
  return CUDA_SUCCESS;
}
