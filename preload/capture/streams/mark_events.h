// Completion marks made of events without timing: a ring of events a stream, one recorded behind every 32nd operation, at most once in half
// a millisecond (depth_marks.h), the oldest asked whether it has finished when the next is due. Measured on an H200: an event costs the GPU nothing between kernels, where a
// write of a value costs 2 µs.
//
//   numbers   … 64 | 96 | 128 | 160 …   launch numbers behind which the events were recorded
//                  ^ tail: asked first   ^ head: recorded next
#pragma once

#include "preload/capture/streams/stream_table.h"

namespace prof::preload {

// Inside a DriverCall, the capture gate held open. Records an event behind launch `number` where the ring has room, and takes
// note of those that have finished. False: the driver refused; no marks on this stream any more.
bool move_events(StreamState& state, uint64_t number);

// A stream ended: its ring serves the next stream of the same context.
void release_ring(StreamState& state);

// Nobody makes marks any more: destroys all events, inside a DriverCall.
void drop_mark_events();

}  // namespace prof::preload
