// Which blocks does a thread write next? It takes chunks of 1–4 blocks, cut from slabs of 64 KiB to 64 MiB. A thread
// takes one chunk in 400–1,600 records, with one fetch_add. The helper thread prepares the next slab and touches
// pages shortly before they are needed. If no slab is ready, the thread extends the log itself; this is counted and
// timed.
//
// The first two slabs have 64 KiB, and the second is prepared when the first is used up. So a process that ends in any
// way, and wrote little, leaves at most 64 KiB of unused file.
//
//   slab:  |chunk|chunk|chunk|······· not handed out ·······|        next slab: prepared by the helper
//                             ^ next (fetch_add)
#pragma once

#include "preload/format/block.h"

#include <atomic>
#include <cstdint>

namespace prof::preload {

struct Chunk {
  format::Block* first = nullptr;
  uint32_t blocks = 0;
};

// The first two slabs of a recording have `first` bytes. Each later slab is twice as large as the one before, up to
// `largest` bytes. Both are within [kSmallestSlab, kLargestSlab]. Returns false if there is no room.
constexpr uint64_t kSmallestSlab = 64u << 10, kLargestSlab = 64u << 20;
bool open_chunks(uint64_t first, uint64_t largest);
// Takes `wanted` blocks or fewer; {} if the log has no room (counted).
Chunk take_chunk(uint32_t wanted);
// Returns the unused rest of a chunk, for example when a thread ends. The next take_chunk() gets it.
void give_chunk(Chunk rest);

// Helper thread: prepares the next slab and touches pages ahead. Returns whether it made a slab.
bool tend_chunks();
// At exit: after this call no chunk is taken. Returns the file offset after the last block that was taken.
uint64_t close_chunks();
bool chunks_are_closed();
// Whether a thread found no room for more records. Nothing gets room again in this recording: a limit or the disk was
// reached. (In a ring blocks are used again.)
extern std::atomic<bool> g_out_of_room;
inline bool out_of_room() { return g_out_of_room.load(std::memory_order_relaxed); }
// Copies the used blocks and the header to the file if the log is not mapped.
void write_back_chunks();
// abandon_chunks(): in the child of a fork, abandons all slabs. retire_chunks(): before another recording of this
// process; `life` is the epoch that ended.
void abandon_chunks();
void retire_chunks(uint64_t life);

}  // namespace prof::preload
