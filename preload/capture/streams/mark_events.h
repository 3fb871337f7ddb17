// How are completion marks made of events without timing? Each stream has a ring of events. One is recorded after every
// 32nd operation, at most once in half a millisecond (depth_marks.h). The oldest is queried when the next is due.
// depth_marks.cpp and stream_table.cpp use it. Measured on an H200: an event costs the GPU nothing between kernels; a
// write of a value costs 2 µs.
//
//   numbers   … 64 | 96 | 128 | 160 …   launch numbers after which the events were recorded
//                  ^ tail: queried first   ^ head: recorded next
#pragma once

#include "preload/capture/streams/stream_table.h"

namespace prof::preload {

// Call it inside a DriverCall, with the capture gate held open. Records an event after launch `number` if the ring has
// room, and notes the events that have finished. False: the driver refused; this stream gets no further marks.
bool move_events(StreamState& state, uint64_t number);

// Call it as move_events(). Notes the events that have finished. Returns whether the stream has had events and none is
// outstanding; false if another thread moves the ring.
bool query_events(StreamState& state);

// Called when a stream ends: its ring serves the next stream of the same context.
void release_ring(StreamState& state);

// Called when no thread makes marks any more: destroys all events. Call it inside a DriverCall.
void drop_mark_events();

}  // namespace prof::preload
