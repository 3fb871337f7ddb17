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

#include "preload/capture/streams/launch_path.h"
#include "preload/format/ids.h"

#include <cuda.h>

#include <cstdint>

namespace prof::preload {

// What every launch does (the state of its stream, its depth, counting it) is inline in launch_path.h.

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
// The same, only of what had been launched when note_launched() was called last: a recording that ends waits for that, however much
// other threads go on launching. One caller at a time.
void note_launched();
Outstanding outstanding_of_noted();
// What is unreported now is never waited for again: CUPTI did not collect when it was launched. The same caller.
void abandon_unreported();

// Opened at the start of a life, PROF_DEPTH already read. `ended`: the life of an earlier part of this process; 0: there was none.
bool open_streams(uint64_t ended = 0);

}  // namespace prof::preload
