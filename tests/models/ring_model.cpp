// preload/log/ring.cpp: a block of a ring has one owner at a time, the horizon covers what was overwritten, and nothing
// is overwritten after the ring was closed. preload/record/block_writer.h, .cpp: a reader sees no record before it is
// written.
#include "tests/models/models.h"

namespace model {
namespace {

namespace option {
struct Ring {
  static constexpr uint64_t kLeastBytes = 1;
  uint64_t bytes = 0, ns = 0;
  bool wanted() const { return bytes != 0 || ns != 0; }
};
}  // namespace option

namespace format {
constexpr size_t kBlockBytes = 4096;
constexpr uint32_t kBlockMagic = 1, kBlockGoneMagic = 2;
using BlockKind = uint16_t;
enum class LossCounter { ring_unkept, ring_grown };
struct BlockHeader {
  atomic<uint32_t> magic;
  log_atomic<uint32_t> committed;
  log_word<uint64_t> sequence, in_call_tick, base_tick;
  log_word<uint32_t> records, thread, in_call_api;
  log_word<uint16_t> flags;
  log_word<BlockKind> kind;
};
// A cell of the queue has an address without its lowest 12 bits.
struct alignas(kBlockBytes) Block {
  BlockHeader header;
  log_word<uint64_t> payload;
  void clear() {
    header.committed = 0;
    header.sequence = header.in_call_tick = 0;
    header.records = header.thread = 0;
    payload = 0;
  }
};
struct RingWords {
  uint64_t bytes = 0;
  atomic<uint64_t> horizon_tick, blocks, records;
};
struct CounterPage {
  RingWords ring;
};
}  // namespace format

struct Chunk {
  format::Block* first = nullptr;
  uint32_t blocks = 0;
};

uint64_t g_cells = 0;          // of the queue
unsigned g_longest_pause = 1;  // before a block is taken from it
struct {
  uint64_t ticks_per_second = 1'000'000'000;
} g_clock;
uint64_t g_now = 0;
uint64_t now_ticks() { return ++g_now; }
Chunk take_chunk(uint32_t) { return {}; }  // the ring has its full size
void count(format::LossCounter) {}
void wake_helper() {}
template <class... Texts> void say(Texts&&...) {}
constexpr int kSleeps = 50;
int g_slept = 0;
void sleep_ns(int64_t) {
  ++g_slept;
  rl::yield(1, $);
}
size_t bytes_into_page(const void*) { return 0; }
int madvise(void*, size_t, int) { return 0; }

#define mmap(address, bytes, ...) map_pages<uint64_t>(bytes)
#define munmap(memory, bytes) unmap_pages<uint64_t>(memory, bytes)
struct RingSource {
  struct {
    format::CounterPage page;
    format::CounterPage* counters() { return &page; }
  } g_log;
  Pause pause;
  uint64_t peek_sealed(const format::Block* block) {
    pause.any(g_longest_pause);
    return block->header.in_call_tick.peek();
  }
#include "ring.inc"
};
#undef mmap
#undef munmap

// A thread that writes a record into a block that it has taken.
struct Writer {
  static constexpr uint32_t thread_ = 1, in_call = 0;
  static constexpr uint64_t in_call_tick = 0;
  static constexpr format::BlockKind kind_ = 1;
  struct {
    uint64_t tick = 0;
  } state_;
  format::Block* block_;
  uint64_t sequence_;
  uint32_t used_ = 0, records_ = 0;

  void open() {
#include "block_open.inc"
  }
#include "block_commit.inc"
};

// Blocks that begin with a page, and the ring of a recording.
template <size_t kBlocks> struct Blocks {
  RingSource* source;
  format::Block* blocks;
  uint16_t generation;

  explicit Blocks(option::Ring size, uint64_t cells = 8) {
    g_cells = cells;
    source = new RingSource;
    g_now = 0;
    g_slept = 0;
    blocks = static_cast<format::Block*>(std::aligned_alloc(format::kBlockBytes, kBlocks * sizeof(format::Block)));
    for (size_t i = 0; i < kBlocks; ++i) new (blocks + i) format::Block;
    RL_ASSERT(source->open_ring(size));
    source->g_ring.left.store(0, rl::mo_relaxed, $);
    generation = source->ring_generation();
  }
  ~Blocks() {
    source->abandon_ring();
    for (size_t i = 0; i < kBlocks; ++i) blocks[i].~Block();
    std::free(blocks);
    delete source;
  }
  // Sealed blocks in the queue.
  void fill(uint64_t sequence) {
    for (size_t i = 0; i < kBlocks; ++i) {
      write(blocks + i, sequence + i);
      give(blocks + i);
    }
  }
  void write(format::Block* block, uint64_t sequence) {
    Writer writer;
    writer.block_ = block;
    writer.sequence_ = sequence;
    writer.open();
    block->payload = sequence;
    writer.commit(sizeof sequence);
  }
  // Seals it: BlockWriter::seal().
  void give(format::Block* block) {
    block->header.records = 1;
    block->header.in_call_tick = now_ticks();
    source->give_to_ring(block, generation);
  }
};

// Two threads seal blocks and take used ones; a third takes one too, as the helper thread looks at the queue.
struct RingTest : rl::test_suite<RingTest, 3> {
  Blocks<2>* ring;
  void before() { ring = new Blocks<2>({.bytes = 2 * format::kBlockBytes}); }
  void after() { delete ring; }
  void thread(unsigned index) {
    if (index == 2) {
      ring->source->tend_ring();
      if (format::Block* const block = ring->source->take_ring_chunk(1).first; block != nullptr) ring->write(block, 9);
      return;
    }
    format::Block* block = ring->blocks + index;
    for (uint64_t sequence = 1; sequence <= 3 && block != nullptr; ++sequence) {
      ring->write(block, sequence);
      ring->give(block);
      block = ring->source->take_ring_chunk(1).first;
      if (block != nullptr)
        RL_ASSERT(block->header.in_call_tick == 0 && block->payload == 0 && block->header.records == 0);
    }
  }
};

// The queue has one cell. A thread that is about to take a block may find the same block in the same cell again.
struct RingCellTest : rl::test_suite<RingCellTest, 2> {
  Blocks<1>* ring;
  void before() {
    ring = new Blocks<1>({.bytes = 1}, 1);
    ring->fill(1);
    g_longest_pause = 60;
  }
  void after() {
    delete ring;
    g_longest_pause = 1;
  }
  void thread(unsigned index) {
    format::Block* const block = ring->source->take_ring_chunk(1).first;
    if (block == nullptr) return;
    ring->write(block, 2);
    if (index == 0) ring->give(block);
  }
};

// A ring of seconds: what was sealed later than `kLatest` stays.
struct RingOfSecondsTest : rl::test_suite<RingOfSecondsTest, 3> {
  static constexpr uint64_t kLatest = 101;
  Blocks<3>* ring;
  void before() {
    ring = new Blocks<3>({.ns = 1});
    for (int i = 0; i < 3; ++i) ring->blocks[i].header.in_call_tick = 1;  // entered a call at 1
    g_now = kLatest - 1;
  }
  void after() {
    RL_ASSERT(ring->source->g_log.page.ring.horizon_tick.load(rl::mo_relaxed, $) <= kLatest);
    delete ring;
  }
  void thread(unsigned index) {
    if (index == 0) {
      ring->fill(1);
    } else {
      for (int i = 0; i < 2; ++i) ring->source->take_used(kLatest);
    }
  }
};

// The log is closed while threads take used blocks.
struct RingCloseTest : rl::test_suite<RingCloseTest, 3> {
  Blocks<2>* ring;
  void before() {
    ring = new Blocks<2>({.bytes = 2 * format::kBlockBytes});
    ring->fill(1);
  }
  void after() { delete ring; }
  void thread(unsigned index) {
    if (index < 2) {
      ring->source->take_ring_chunk(1);
      return;
    }
    ring->source->close_ring();
    if (g_slept >= kSleeps) return;  // it waits for so long and no longer
    for (const format::Block* block = ring->blocks; block != ring->blocks + 2; ++block)
      RL_ASSERT(block->payload == block->header.sequence);
  }
};

// Another process reads the log while blocks are used again: analyzer/input/log/ring_copy.cpp. Its reads are the
// kernel's; here they happen in the order in which it makes them.
struct RingReaderTest : rl::test_suite<RingReaderTest, 2> {
  static constexpr uint64_t kOld = 7, kNew = 20;
  struct Header {
    uint32_t magic, committed;
    uint64_t sequence;
    bool is_of(const Header& other) const { return magic == other.magic && sequence == other.sequence; }
  };
  static Header read(const format::Block& block) {
    Header header;
    header.magic = block.header.magic.load(rl::mo_acquire, $);
    header.committed = block.header.committed.load(rl::mo_acquire, $);
    header.sequence = block.header.sequence.peek();
    model::atomic_thread_fence(rl::mo_acquire, $);
    return header;
  }
  Blocks<2>* ring;
  uint64_t sealed[2];
  void before() {
    ring = new Blocks<2>({.bytes = 2 * format::kBlockBytes});
    ring->fill(kOld);
    for (int i = 0; i < 2; ++i) sealed[i] = ring->blocks[i].header.in_call_tick;
  }
  void after() { delete ring; }
  void thread(unsigned index) {
    if (index == 0) {
      for (int i = 0; i < 2; ++i) {
        if (format::Block* const block = ring->source->take_ring_chunk(1).first; block != nullptr)
          ring->write(block, kNew + i);
      }
      return;
    }
    const format::RingWords& words = ring->source->g_log.page.ring;
    for (int i = 1; i >= 0; --i) {
      const format::Block& block = ring->blocks[i];
      ring->source->pause.any(40);
      const Header header = read(block), there = read(block);
      const uint64_t payload = block.payload.peek();
      model::atomic_thread_fence(rl::mo_acquire, $);
      const Header after = read(block);
      if (header.magic == format::kBlockMagic && header.is_of(there) && header.is_of(after) &&
          header.committed <= there.committed) {
        RL_ASSERT(header.sequence != 0 && (header.committed == 0 || payload == header.sequence));
      }
      if (header.magic == format::kBlockGoneMagic) RL_ASSERT(words.horizon_tick.load(rl::mo_relaxed, $) >= sealed[i]);
    }
    const uint64_t blocks = words.blocks.load(rl::mo_acquire, $);
    if (blocks != 0) RL_ASSERT(words.horizon_tick.load(rl::mo_relaxed, $) >= sealed[blocks - 1]);
  }
};

}  // namespace

void add_ring(Models& models) {
  models.add<RingTest>("a block of a ring has one owner, and is empty when it is used again");
  models.add<RingCellTest>("a block that is in the same cell of the queue again has one owner");
  models.add<RingOfSecondsTest>("a ring of seconds keeps what was sealed in them");
  models.add<RingCloseTest>("nothing is overwritten after a ring was closed");
  models.add<RingReaderTest>("a reader of a ring sees a block as it was, or that it is gone and the horizon with it");
}

}  // namespace model
