// Stream capture and its restrictions. The rules are those of the driver's documentation of
// cuThreadExchangeStreamCaptureMode and cuStreamBeginCapture; which calls count as unsafe is taken from there, not
// measured.
#pragma once
#include <thread>
#include <vector>

#include "tests/sim/graph.h"

namespace sim {

struct Capture {
  unsigned long long id = 0;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::thread::id thread;
  Stream* origin = nullptr;
  Graph* graph = nullptr;
  bool owns_graph = true;
  bool invalidated = false;
  struct Branch {
    Stream* stream;
    std::vector<Node*> last;            // the nodes that the next node on this stream depends on
    std::vector<CUgraphNode> reported;  // cuStreamGetCaptureInfo's array, valid until the next call on the capture
  };
  std::vector<Branch> branches;

  Branch* branch(Stream* stream);
};

// "Potentially unsafe" calls (allocation, module load, event query ...) call this first. It returns the error to return
// if the call is refused; it also invalidates captures that forbid the call.
CUresult allow_unsafe_call();

// Called before an operation is submitted to `stream` outside its own capture: the legacy stream may not be used while
// a blocking stream captures.
CUresult allow_legacy_use(Lock& lock, Stream* stream);

CUresult capture_work(Stream* stream, Work work, const NodeArguments& arguments,
                      Node** made = nullptr);  // with the lock
CUresult refuse_captured(Stream* stream);      // with the lock: for a call that a capturing stream does not allow
bool context_has_capture(Context* context);    // with the lock
CUresult capture_event_record(Stream* stream, Event* event);
CUresult capture_event_wait(Stream* stream, Event* event);  // stream or event belongs to a capture
void invalidate_captures(Context* context);

}  // namespace sim
