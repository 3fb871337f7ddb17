// Hands out blocks: chunks of 1–4 blocks cut from slabs of 4–64 MiB. A thread asks once in 400–1,600 records; that is one
// fetch_add. The helper thread has the next slab ready and touches pages shortly before they are needed; a thread that finds
// none extends the log itself, counted and timed.
//
//   slab:  |chunk|chunk|chunk|······· not handed out ·······|        next slab: prepared by the helper
//                             ^ next (fetch_add)
#pragma once

#include "preload/format/block.h"

#include <cstdint>

namespace prof::preload {

struct Chunk {
  format::Block* first = nullptr;
  uint32_t blocks = 0;
};

// First slab of a life; each is twice as large as the one before it, up to `largest`. False: no room.
constexpr uint64_t kLargestSlab = 64ull << 20;
bool open_chunks(uint64_t slab_bytes, uint64_t largest = kLargestSlab);
// `wanted` blocks or fewer; {} when the log has no room left (counted).
Chunk take_chunk(uint32_t wanted);
// The rest of a dead thread's chunk: the next to ask gets it.
void give_chunk(Chunk rest);

// Helper thread: prepares the next slab, touches pages ahead, copies to the file where the log is not mapped. Returns whether
// there was anything to do.
bool tend_chunks();
// At exit: hands out nothing any more and returns the file offset behind the last block that was handed out.
uint64_t close_chunks();
bool chunks_are_closed();
void write_back_chunks();
// Child of a fork: forgets all slabs. Before another part of the run: `life` is the one that ended.
void abandon_chunks();
void retire_chunks(uint64_t life);

}  // namespace prof::preload
