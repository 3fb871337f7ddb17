// Streams of the program and how many operations each has outstanding. Called by the hooks (intercept/) on the launching
// thread and by the CUPTI side for completions; lock-free, fixed tables, never allocates.
//
//   launched    counted by the hooks: +1 an operation, +n a graph launch (its kernels, copies and fills)
//   completed   the largest launch number known to have finished: a returned synchronisation or successful query, an event
//               recorded behind it, a completion mark (PROF_DEPTH=marks), GPU records delivered
//   depth       launched − completed at the moment a launch is entered: an upper bound of what is outstanding. (CUPTI reports
//               a kernel that the driver launched on its own like any other; until the stream is next seen empty, each such
//               kernel can make the depth one too small.)
#pragma once

#include "preload/format/ids.h"

#include <cuda.h>

#include <cstdint>

namespace prof::preload {

struct StreamState;  // one life of one stream; slots are reused only after cuStreamDestroy and under a new generation

// What a hook knows about the stream argument of a call: which null-stream meaning it has.
enum class NullStream : uint8_t { Legacy, PerThread };

// The state of `stream` (0, CU_STREAM_LEGACY and CU_STREAM_PER_THREAD resolved with the current context and thread), defined
// in the log at first sight. Null: table full, counted. Driver calls it makes are bracketed and do not touch the stream's work.
StreamState* stream_state(CUstream stream, NullStream null_stream);
format::StreamId stream_id(const StreamState* state);  // 0 for null
format::ContextId context_id(CUcontext context);       // defined at first sight; null: the current context

// Launch accounting. `depth_before` is called on entry, `launched` after a successful call that was not captured.
uint64_t depth_before(StreamState* state);
// `tick`: when the call returned; 0: now.
void launched(StreamState* state, uint64_t operations, uint64_t tick = 0);
// Behind a launch: places a completion mark where that is due and safe (PROF_DEPTH=marks).
void mark_if_due(StreamState* state, CUstream stream, bool programmatic);

// Whether the launch just made on `stream` was recorded into a graph. One atomic load while nobody captures.
bool captured(CUstream stream, NullStream null_stream = NullStream::Legacy);
void capture_begins(CUstream stream);  // before the real cuStreamBeginCapture…: no mark of ours is in flight afterwards
void capture_ended();                  // after the real cuStreamEndCapture, or when begin failed

// Completions told by returned calls. `upto` numbers are read before the real call with launches_so_far().
uint64_t launches_so_far(const StreamState* state);
void completed(StreamState* state, uint64_t upto);
void context_synchronized(CUcontext context, uint64_t entered_tick);  // everything launched in it before that tick
void event_recorded(CUevent event,
                    StreamState* state);  // before the real call: what is launched so far is in front of it
void event_finished(CUevent event);       // synchronised, or a query said so
void event_destroyed(CUevent event);
void stream_destroyed(CUstream stream);
void context_destroyed(CUcontext context);

// CUPTI side: `operations` of (context id, stream id) were reported finished.
void gpu_reported(uint32_t gpu_context, uint32_t gpu_stream, uint64_t operations);

// Over all streams: operations launched that nothing told to have finished, and operations CUPTI has not reported.
struct Outstanding {
  uint64_t unfinished = 0;
  uint64_t unreported = 0;
};
Outstanding outstanding();

// Opened at the start of a life, PROF_DEPTH already read.
bool open_streams();

}  // namespace prof::preload
