// Which block does a flight recorder (PROF_RING) overwrite next? The log keeps the last bytes or seconds of the run. If
// a thread needs a block for events and the ring has its full size, the thread gets the block that was sealed first.
// Called when a block is full, once in about 150 launches; the rest of the record path does not depend on it. This code
// runs in the program, on any thread, without a lock.
//
//   order of sealing:   |used|used| oldest | … | newest |        a queue of addresses, nearly in that order;
//                                 ^ head               ^ tail    a thread's open block and the one before it are not in
//                                                                it, so that the last events of a quiet thread stay
//
// Definitions are in blocks of their own, which are never reused. ring_keeps() also allows a limited amount of events
// there that later events need. Every block of a ring starts with the definition of its thread.
#pragma once

#include "preload/base/options.h"
#include "preload/format/block.h"
#include "preload/log/chunks.h"

#include <cstddef>
#include <cstdint>

namespace prof::preload {

// Whether the ring has `bytes` left among its definitions for data that is written once and needed as long as the log
// exists. An example is the origin of a graph's nodes. The limit is an eighth of the ring's size, 8 MiB for a ring of
// seconds. Returns false also without a ring; the data is then an event.
bool ring_keeps(size_t bytes);

// Starts the ring of a recording; its counter page exists. Returns false if there is no memory.
bool open_ring(option::Ring size);
bool in_ring();  // whether the current recording has a ring
// The generation of this recording. Entries of an earlier one in the queue are not used.
uint16_t ring_generation();

// Takes blocks for events: fresh ones while the ring grows, then a used one, which is emptied. If every block of the
// ring is open, it takes fresh ones again. Returns {} if there is no room at all.
Chunk take_ring_chunk(uint32_t wanted);
// Allows a sealed block to be reused. `generation` is the one from when its thread's writer was opened.
void give_to_ring(format::Block* block, uint16_t generation);
// Returns blocks of take_ring_chunk() that were not used.
void leave_ring(uint32_t blocks);

// At exit, before the chunks are closed: after this call nothing is overwritten. Waits at most 50 ms for threads that
// take a block.
void close_ring();

// Helper thread: makes the pages of the blocks that are used next writable, as chunks.h does for fresh ones.
void tend_ring();

// In the child of a fork: the queue may be in the middle of a change that no thread completes.
void abandon_ring();

}  // namespace prof::preload
