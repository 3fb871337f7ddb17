// What ring.cpp and chunks.cpp call, and the blocks that they hand out.
#pragma once

#include "tests/models/model.h"

namespace model {

struct alignas(4096) Block {
  plain<uint64_t> payload;
  plain<uint64_t> emptied;
  atomic<uint64_t> sealed_tick;
};

namespace format {
using model::Block;
inline constexpr size_t kBlockBytes = 4096;
inline constexpr size_t kBlocksOffset = 12288;
enum class Backing { Mapped, Written };
enum class LossCounter { ring_unkept, ring_grown, log_extend_failed, slab_waits, slab_wait_ns };
}  // namespace format
static_assert(sizeof(Block) == format::kBlockBytes);

struct Chunk {
  format::Block* first = nullptr;
  uint32_t blocks = 0;
};
template <class... Parts> void say(const Parts&...) {}
inline void count(format::LossCounter, uint64_t = 1) {}
inline void wake_helper() {}
inline void sleep_ns(uint64_t) { rl::yield(1, $); }
inline size_t bytes_into_page(const void*) { return 0; }
inline int madvise(void*, size_t, int) { return 0; }

}  // namespace model
