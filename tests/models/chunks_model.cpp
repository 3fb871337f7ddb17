// preload/log/chunks.cpp: a chunk has one owner, who finds its memory made, and none is taken after the log was closed.
#include "tests/models/models.h"

namespace model {
namespace {

namespace format {
constexpr size_t kBlockBytes = 4096, kBlocksOffset = 4096;
enum class LossCounter { log_extend_failed, slab_waits, slab_wait_ns };
enum class Backing { Mapped, Written };
struct Block {
  plain<uint64_t> payload;
};
}  // namespace format

struct Chunk {
  format::Block* first = nullptr;
  uint32_t blocks = 0;
};

bool in_ring() { return false; }
void count(format::LossCounter, uint64_t = 0) {}
void wake_helper() {}
template <class... Texts> void say(Texts&&...) {}
struct {
  uint64_t monotonic_ns = 0;
} g_clocks;
auto read_clocks() { return g_clocks; }

constexpr uint32_t kSlabBlocks = 2, kBlocks = 12;
constexpr uint64_t kSmallestSlab = kSlabBlocks * format::kBlockBytes, kLargestSlab = kSmallestSlab;

void retire_log_pages(void*, size_t bytes, uint64_t) { RL_ASSERT(bytes == kSmallestSlab); }

struct ChunksSource {
  // The thread that extends the log makes its memory.
  struct {
    format::Block* blocks = nullptr;
    uint32_t used = 0;
    bool wrote_header = false;
    format::Block* extend(uint64_t& bytes, uint64_t& offset) {
      const uint32_t first = used;
      if (first + kSlabBlocks > kBlocks) return nullptr;
      used += kSlabBlocks;
      offset = offset_of(blocks + first);
      for (uint32_t i = 0; i < kSlabBlocks; ++i) blocks[first + i].payload = 0;
      return blocks + first;
    }
    uint64_t offset_of(const format::Block* block) const {
      return format::kBlocksOffset + static_cast<uint64_t>(block - blocks) * format::kBlockBytes;
    }
    format::Backing backing() const { return format::Backing::Written; }
    const char* path() const { return ""; }
    void write_back(const format::Block* from, uint64_t bytes, uint64_t offset) {
      RL_ASSERT(offset == offset_of(from) && bytes <= kSmallestSlab);
    }
    void write_back_header() { wrote_header = true; }
  } g_log;
#include "chunks.inc"
};

struct Log {
  ChunksSource source;
  uint64_t last_end[3] = {};  // of the chunks that each thread took
  Log() {
    source.g_log.blocks = static_cast<format::Block*>(std::malloc(kBlocks * sizeof(format::Block)));
    for (uint32_t i = 0; i < kBlocks; ++i) new (source.g_log.blocks + i) format::Block;
  }
  ~Log() {
    for (uint32_t i = 0; i < kBlocks; ++i) source.g_log.blocks[i].~Block();
    std::free(source.g_log.blocks);
  }
  // Takes a chunk, writes all but its last block, which another thread may get.
  void use(unsigned thread, uint32_t wanted) {
    const Chunk chunk = source.take_chunk(wanted);
    if (chunk.first == nullptr) return;
    RL_ASSERT(chunk.blocks <= wanted && chunk.first >= source.g_log.blocks &&
              chunk.first + chunk.blocks <= source.g_log.blocks + kBlocks);
    const uint64_t end = source.g_log.offset_of(chunk.first + chunk.blocks);
    if (end > last_end[thread]) last_end[thread] = end;
    const uint32_t written = chunk.blocks > 1 ? chunk.blocks - 1 : 1;
    for (uint32_t i = 0; i < written; ++i) {
      RL_ASSERT(chunk.first[i].payload == 0);
      chunk.first[i].payload = thread + 1;
    }
    if (written != chunk.blocks) source.give_chunk({chunk.first + written, chunk.blocks - written});
  }
};

// A log that is open when the threads begin.
template <class Suite, unsigned kThreads> struct OpenLogTest : rl::test_suite<Suite, kThreads> {
  Log* log;
  void before() {
    log = new Log;
    RL_ASSERT(log->source.open_chunks(kSmallestSlab, kLargestSlab));
  }
  void after() { delete log; }
};

// kTended: a helper thread prepares slabs; otherwise each thread extends the log itself.
template <bool kTended> struct ChunksTest : OpenLogTest<ChunksTest<kTended>, 3> {
  using OpenLogTest<ChunksTest, 3>::log;
  void thread(unsigned index) {
    if (kTended && index == 2) {
      for (int i = 0; i < 3; ++i) log->source.tend_chunks();
      return;
    }
    log->use(index, 1);
    log->use(index, 2);
    log->use(index, 1);
  }
};

// A thread that another recording interrupted takes a chunk while this recording starts.
struct ChunksOpenTest : rl::test_suite<ChunksOpenTest, 2> {
  Log* log;
  void before() { log = new Log; }
  void after() { delete log; }
  void thread(unsigned index) {
    if (index == 0) {
      RL_ASSERT(log->source.open_chunks(kSmallestSlab, kLargestSlab));
    } else {
      for (int i = 0; i < 3; ++i) log->use(index, 1);
    }
  }
};

// The log is closed while threads take chunks. It is cut after the last block that was taken.
template <bool kTended> struct ChunksCloseTest : OpenLogTest<ChunksCloseTest<kTended>, 3> {
  using Base = OpenLogTest<ChunksCloseTest, 3>;
  using Base::log;
  Pause* pause;
  uint64_t end;
  void before() {
    Base::before();
    pause = new Pause;
    end = 0;
    log->use(0, 1);  // the rest of the first slab is for one
  }
  void after() {
    for (const uint64_t last : log->last_end) RL_ASSERT(last <= end);
    delete pause;
    Base::after();
  }
  void thread(unsigned index) {
    if (index == 2) {
      pause->any(30);
      end = log->source.close_chunks();
      log->source.write_back_chunks();
      RL_ASSERT(log->source.chunks_are_closed() && log->source.g_log.wrote_header);
    } else if (kTended && index == 1) {
      for (int i = 0; i < 2; ++i) log->source.tend_chunks();
    } else {
      for (int i = 0; i < 3; ++i) log->use(index, 1);
    }
  }
};

// The recording ends and is retired, while a thread takes chunks.
struct ChunksRetireTest : OpenLogTest<ChunksRetireTest, 2> {
  Pause* pause;
  void before() {
    OpenLogTest::before();
    pause = new Pause;
    for (int i = 0; i < 2; ++i) log->use(0, 1);  // the first slab
  }
  void after() {
    delete pause;
    OpenLogTest::after();
  }
  void thread(unsigned index) {
    if (index == 0) {
      for (int i = 0; i < 3; ++i) log->use(index, 1);
      return;
    }
    pause->any(30);
    log->source.close_chunks();
    log->source.retire_chunks(1);
  }
};

// The log is not mapped, and the helper thread copies it to the file.
struct ChunksWriteBackTest : OpenLogTest<ChunksWriteBackTest, 2> {
  void thread(unsigned index) {
    if (index == 0) {
      for (int i = 0; i < 3; ++i) log->use(0, 2);
    } else {
      for (int i = 0; i < 2; ++i) log->source.write_back_chunks();
    }
  }
};

}  // namespace

void add_chunks(Models& models) {
  models.add<ChunksTest<false>>("a chunk has one owner, and its memory is made before");
  models.add<ChunksTest<true>>("a slab that the helper thread prepares is made before it is used");
  models.add<ChunksOpenTest>("the first slab is made before it is used");
  models.add<ChunksCloseTest<false>>("a log is cut after the last chunk that a thread took");
  models.add<ChunksCloseTest<true>>("a log is cut after the last chunk of a slab that the helper thread prepared");
  models.add<ChunksRetireTest>("a thread that takes a chunk while its recording is retired gets one of its log");
  models.add<ChunksWriteBackTest>("a slab is copied to its place in the file");
}

}  // namespace model
