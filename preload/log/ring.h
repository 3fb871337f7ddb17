// The flight recorder (PROF_RING): the log keeps the last bytes or seconds of the run. When a thread wants a block for events
// and the ring has its size, it gets the one that was sealed first. Called once in some 150 launches, when a block is full; the
// record path knows nothing of it. In the program, any thread, no lock.
//
//   order of sealing:   |gone|gone| oldest | … | newest |        a queue of addresses, nearly in that order;
//                                 ^ head               ^ tail    an open block and the one before it are not in it, so that
//                                                                what a quiet thread did last stays
//
// Definitions are in blocks of their own, which are never used again; a bounded part of them are events that what remains needs
// (ring_keeps). Every block of a ring begins with its thread's definition.
#pragma once

#include "preload/base/options.h"
#include "preload/format/block.h"
#include "preload/log/chunks.h"

#include <cstddef>
#include <cstdint>

namespace prof::preload {

// What is written once and needed as long as the log lasts, such as the origin of a graph's nodes: true where the ring has `bytes`
// left for it among its definitions (an eighth of its size, 8 MiB of a ring of seconds). False also without a ring: it is an event.
bool ring_keeps(size_t bytes);

// A life begins, its counter page is there. False: no memory.
bool open_ring(option::Ring size);
bool in_ring();  // of the life that records
// Of this life; what an earlier one left in the queue is nobody's.
uint16_t ring_generation();

// For events: fresh blocks as long as the ring grows, then one that was used before, which is empty as a fresh one is; fresh ones
// again where every block of the ring is open. {} where there is no room at all.
Chunk take_ring_chunk(uint32_t wanted);
// A sealed block may be used again from now on. `generation` as it was when its thread's writer was opened.
void give_to_ring(format::Block* block, uint16_t generation);
// Blocks of take_ring_chunk() that were not used.
void leave_ring(uint32_t blocks);

// At exit, before the chunks are closed: nothing is overwritten any more. Waits for threads that are at it, at most 50 ms.
void close_ring();

// Helper thread: pages of blocks that are used next are made writable, as chunks.h does with fresh ones.
void tend_ring();

// In the child of a fork: the queue may be in the middle of a change that nobody finishes.
void abandon_ring();

}  // namespace prof::preload
