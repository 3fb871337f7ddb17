// preload/log/chunks.cpp: a block belongs to one thread, and a closed log ends after the last one that was taken.
#include "tests/models/log_stubs.h"
#include "tests/models/models.h"

namespace model {
namespace {

constexpr unsigned kBlocks = 12;

// The source as members, with a log of kBlocks blocks.
struct ChunksSource {
  struct Log {
    Block* blocks = nullptr;
    atomic<uint64_t> end{0};
    format::Block* extend(uint64_t& bytes, uint64_t& offset) {
      const uint64_t at = end.fetch_add(bytes / 4096, rl::mo_relaxed, $);
      if (at + bytes / 4096 > kBlocks) return nullptr;
      offset = format::kBlocksOffset + at * 4096;
      return blocks + at;
    }
    format::Backing backing() const { return format::Backing::Mapped; }
    const char* path() const { return ""; }
    void write_back(const void*, uint64_t, uint64_t) {}
    void write_back_header() {}
  } g_log;
  struct Reading {
    uint64_t monotonic_ns;
  };
  Reading read_clocks() { return {0}; }
  bool in_ring() { return false; }
  void retire_log_pages(void*, size_t, uint64_t) {}
#include "chunks.inc"
};

struct ChunksTest : rl::test_suite<ChunksTest, 4> {
  ChunksSource* log;
  Block* blocks;
  void before() {
    log = new ChunksSource;
    blocks = static_cast<Block*>(std::aligned_alloc(4096, kBlocks * sizeof(Block)));
    for (unsigned i = 0; i < kBlocks; ++i) new (blocks + i) Block;
    log->g_log.blocks = blocks;
  }
  void after() {
    for (unsigned i = 0; i < kBlocks; ++i) blocks[i].~Block();
    std::free(blocks);
    delete log;
  }
  void thread(unsigned index) {
    if (index == 0) log->open_chunks(2 * 4096, 4 * 4096);
    if (index == 3) {
      for (int round = 0; round < 3; ++round) log->tend_chunks();
      return;
    }
    for (int round = 0; round < 3; ++round) {
      const Chunk chunk = log->take_chunk(2);
      for (uint32_t i = 0; i < chunk.blocks; ++i) chunk.first[i].payload = index;
      if (round == 1 && chunk.blocks == 2) log->give_chunk({chunk.first + 1, 1});
    }
  }
};

}  // namespace

void add_chunks(Models& models) { models.add<ChunksTest>("a block of the log belongs to one thread"); }

}  // namespace model
