// How many operations does each stream of the program have outstanding? The hooks (intercept/) use it on the launching
// thread, and the CUPTI side reports completions. It is lock-free, has fixed tables and never allocates.
//
//   launched    counted by the hooks: +1 an operation, +n a graph launch (its kernels, copies and fills)
//   completed   the largest launch number known to have finished: a returned synchronisation or successful query, an
//               event recorded after it, a completion mark (PROF_DEPTH=marks), GPU records delivered, something later
//               on a stream that waited for the event (event_waits.h)
//   depth       launched − completed at the moment a launch is entered: an upper bound of what is outstanding. (CUPTI
//               reports a kernel that the driver launched on its own like any other; until the stream is next seen
//               empty, each such kernel can make the depth one too small.)
#pragma once

#include "preload/capture/streams/event_waits.h"
#include "preload/capture/streams/launch_path.h"
#include "preload/format/ids.h"

#include <cuda.h>

#include <cstdint>

namespace prof::preload {

// What every launch does (the state of its stream, its depth, its count) is inline in launch_path.h.

void capture_begins(CUstream stream);  // before the real cuStreamBeginCapture…: no mark is being placed afterwards
void capture_ended();                  // after the real cuStreamEndCapture, or if begin failed

// Completions that returned calls prove. `upto` is read before the real call with point_so_far(). `own`: operations of
// the call itself that have finished too.
void completed(StreamState* state, const StreamPoint& upto, uint64_t own = 0);
void context_synchronized(CUcontext context, uint64_t entered_tick);  // all operations launched in it before that tick
// Around the call that records an event: before it, the event's place is forgotten; after it, if the call succeeded and
// was not captured, the place is what was on the stream before the call. So a result for an event is of the recording
// that the table has, if the table had it before the result's call and has it after it.
void event_changes(CUevent event);
void event_recorded(CUevent event, const StreamState* state, const StreamPoint& upto);
void event_shared(CUevent event);  // graphs or other processes record it too: a result is of an unknown recording
EventPoint event_point(CUevent event);
void event_finished(CUevent event, const EventPoint& before);                     // synchronised, or a successful query
void event_awaited(StreamState* state, CUevent event, const EventPoint& before);  // by a stream, not captured
void event_destroyed(CUevent event);
void stream_destroyed(CUstream stream);
void context_destroyed(CUcontext context);
// A driver call returned an error. If it is one that ends a context for good, nothing in the current context finishes
// any more: its operations are not waited for (outstanding_of_noted()). If the driver has ended, the process exits: the
// thread waits while others are held.
void note_error_slow(CUresult result);
inline void note_error(CUresult result) {
  if (result >= CUDA_ERROR_ECC_UNCORRECTABLE || result == CUDA_ERROR_DEINITIALIZED) [[unlikely]]
    note_error_slow(result);
}
// The same for contexts that have unfinished operations, by a query of the driver: the program may not have seen the
// error. Not while a thread captures.
void look_for_failed_contexts();

// CUPTI side: `operations` of (context id, stream id) were reported finished.
void gpu_reported(uint32_t gpu_context, uint32_t gpu_stream, uint64_t operations);

// Over all streams: launched operations that are not known to have finished, and operations that CUPTI has not
// reported.
struct Outstanding {
  uint64_t unfinished = 0;
  uint64_t unreported = 0;
};
Outstanding outstanding();
// Whether no GPU seems to have an operation outstanding. Queries the marks of streams. If all marks of a stream have
// finished, operations that were launched after the last mark and before `quiet_since` (ticks) seem to have finished
// too: a burst of launches has one mark. Not known: a stream was launched into since then, or it gets no marks. The
// helper thread calls it.
enum class GpuIdle : uint8_t { No, NotKnown, Yes };
GpuIdle seems_idle(uint64_t quiet_since);
// The same as outstanding(), only of the operations launched before the last note_launched(): a recording that ends
// waits for these, however much other threads launch meanwhile. One caller at a time.
void note_launched();
Outstanding outstanding_of_noted();
// Whether on each stream all that was noted is known to have finished, or `also_done` is true. The same caller.
bool noted_finished_or(bool (*also_done)(const StreamState&));

// Called when a recording starts, after PROF_DEPTH is read. `ended`: the epoch of an earlier recording of this process;
// 0: there was none.
bool open_streams(uint64_t ended = 0);

}  // namespace prof::preload
