// preload/log/ring.cpp: a block that is used again belongs to one thread, and none is overwritten in a closed log.
#include "tests/models/log_stubs.h"
#include "tests/models/models.h"

namespace model {
namespace {

namespace option {
struct Ring {
  static constexpr uint64_t kLeastBytes = 4096;
  uint64_t bytes = 0, ns = 0;
  bool wanted() const { return bytes != 0; }
};
}  // namespace option
struct RingWords {
  uint64_t bytes;
};
struct Counters {
  RingWords ring;
};

#define mmap(address, bytes, ...) map_pages<uint64_t>(bytes)
#define munmap(memory, bytes) unmap_pages<uint64_t>(memory, bytes)
// The source as members, with a log that has `fresh_blocks` blocks.
struct RingSource {
  struct Log {
    Counters counters_;
    Counters* counters() { return &counters_; }
    const char* path() const { return ""; }
  } g_log;
  struct {
    uint64_t ticks_per_second = 1;
  } g_clock;
  uint64_t now_ticks() { return 1; }
  Chunk take_chunk(uint32_t) { return {}; }  // the log has no room: only used blocks
  void overwrite(format::Block* block) { block->emptied = block->emptied + 1; }
#include "ring.inc"
};
#undef mmap
#undef munmap

// Threads give the blocks that they have written, and take used ones and write them.
template <unsigned kThreads, bool kCloses> struct RingTest : rl::test_suite<RingTest<kThreads, kCloses>, kThreads> {
  static constexpr unsigned kBlocks = 4;
  RingSource* ring;
  Block* blocks;
  void before() {
    ring = new RingSource;
    blocks = static_cast<Block*>(std::aligned_alloc(4096, kBlocks * sizeof(Block)));
    for (unsigned i = 0; i < kBlocks; ++i) new (blocks + i) Block;
    ring->open_ring({4096, 0});
  }
  void after() {
    for (unsigned i = 0; i < kBlocks; ++i) blocks[i].~Block();
    std::free(blocks);
    ring->abandon_ring();
    delete ring;
  }
  void thread(unsigned index) {
    if (kCloses && index == kThreads - 1) {
      ring->close_ring();
      uint64_t emptied = 0;
      for (unsigned i = 0; i < kBlocks; ++i) emptied += blocks[i].emptied;
      RL_ASSERT(emptied <= 6);
      return;
    }
    const uint16_t generation = ring->ring_generation();
    Block* mine = blocks + index;
    mine->payload = index + 1;
    ring->give_to_ring(mine, generation);
    for (unsigned i = 0; i < 3; ++i) {
      const Chunk used = ring->take_ring_chunk(1);
      if (used.first == nullptr) continue;
      used.first->payload = 10 * index + i;
      if (i == 1) ring->tend_ring();
      ring->give_to_ring(used.first, generation);
    }
  }
};

}  // namespace

void add_ring(Models& models) {
  models.add<RingTest<3, false>>("a used block belongs to one thread");
  models.add<RingTest<3, true>>("no block is emptied in a closed log");
}

}  // namespace model
