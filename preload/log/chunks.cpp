#include "preload/log/chunks.h"

#include "preload/base/clock.h"
#include "preload/base/helper_wake.h"
#include "preload/base/messages.h"
#include "preload/base/page_size.h"
#include "preload/log/count.h"
#include "preload/log/log_storage.h"
#include "preload/log/retired.h"
#include "preload/log/ring.h"

#include <sys/mman.h>

#include <cerrno>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace prof::preload {

namespace {

constexpr uint32_t kMaxSlabs = 4096;
constexpr uint32_t kAheadBlocks = 256;  // 1 MiB touched ahead: 100,000 launches
constexpr uint32_t kWakeEveryBlocks = 64;
constexpr uint32_t kClosed = 0x40000000;  // added to `next`: no thread gets a block from here on
constexpr uint32_t kSpares = 256;

struct Slab {
  std::atomic<uint32_t> next;
  uint32_t blocks;
  uint64_t offset;
  std::atomic<format::Block*> base;  // null: no slab. Stored last, when the rest is known
  std::atomic<uint32_t> touched;     // blocks whose pages were touched ahead
};

constinit Slab g_slabs[kMaxSlabs] = {};
std::atomic<uint32_t> g_slab_count{0};
std::atomic<Slab*> g_current{nullptr};
std::atomic<Slab*> g_ready{nullptr};
std::atomic<bool> g_closed{false};
std::atomic<uint64_t> g_next_bytes{0};
uint64_t g_largest = kLargestSlab;
std::atomic<bool> g_full{false};
// Rests of chunks: the address (48 bits) and the number of blocks (16 bits) in one word; 0 = empty.
std::atomic<uint64_t> g_spares[kSpares];
std::atomic<uint32_t> g_spare_count{0};

// A slab that close_chunks() may have missed is not used. The orders are seq_cst for this: either this thread sees that
// the log is closed, or closing sees the slab.
Slab* make_slab() {
  if (g_full.load(std::memory_order_relaxed)) return nullptr;
  const uint32_t index = g_slab_count.fetch_add(1, std::memory_order_seq_cst);
  uint64_t bytes = g_next_bytes.load(std::memory_order_relaxed);
  uint64_t offset = 0;
  format::Block* const base = index < kMaxSlabs ? g_log.extend(bytes, offset) : nullptr;
  if (base == nullptr) {
    g_full.store(true, std::memory_order_relaxed);
    static std::atomic<bool> said{false};
    if (in_ring()) {  // nothing is lost in this case
      say(said, "no room for more of the log (disk, quota, PROF_MAX_SIZE or ulimit -f): the ring stays as it is: ",
          g_log.path());
      return nullptr;
    }
    count(format::LossCounter::log_extend_failed);
    say(said,
        "the log is full (disk, quota, PROF_MAX_SIZE or ulimit -f): later records are only counted: ", g_log.path());
    return nullptr;
  }
  if (index != 0 && bytes * 2 <= g_largest) g_next_bytes.store(bytes * 2, std::memory_order_relaxed);
  Slab& slab = g_slabs[index];
  slab.blocks = static_cast<uint32_t>(bytes / format::kBlockBytes);
  slab.offset = offset;
  slab.touched.store(0, std::memory_order_relaxed);
  slab.next.store(0, std::memory_order_relaxed);
  slab.base.store(base, std::memory_order_seq_cst);
  return g_closed.load(std::memory_order_seq_cst) ? nullptr : &slab;
}

// A store fault on a fresh page of the file costs 0.5–1 µs, and much more while the disk is written. The helper
// thread takes these faults here, so that hooks do not.
void touch(Slab& slab, uint32_t upto) {
  if (upto > slab.blocks) upto = slab.blocks;
  const uint32_t from = slab.touched.load(std::memory_order_relaxed);
  if (upto <= from) return;
  char* const at = reinterpret_cast<char*>(slab.base.load(std::memory_order_relaxed) + from);
  const size_t bytes = (upto - from) * format::kBlockBytes;
  const size_t before = bytes_into_page(at);
  if (madvise(at - before, before + bytes, MADV_POPULATE_WRITE) != 0) {  // Linux < 5.14
    for (size_t i = 0; i < bytes; i += format::kBlockBytes) {
      __atomic_fetch_or(at + i + format::kBlockBytes - 1, 0, __ATOMIC_RELAXED);
    }
  }
  slab.touched.store(upto, std::memory_order_relaxed);
}

// Two threads made a slab at once and one of them needs it; this is the other slab. Its blocks count as taken, because
// closing cuts the file after them, whichever thread gets them. If the log was closed before, nobody gets them.
void give_whole(Slab& slab) {
  if (slab.next.fetch_add(slab.blocks, std::memory_order_relaxed) != 0) return;
  give_chunk({slab.base.load(std::memory_order_relaxed), slab.blocks});
}

// The helper prepares the next slab when so many blocks of this one are used. The first slab is used up first: a short
// program must not reserve more than it needs.
uint32_t blocks_before_next(const Slab& slab) { return &slab == g_slabs ? slab.blocks : slab.blocks / 2 + 1; }

Chunk take_spare(uint32_t wanted) {
  for (std::atomic<uint64_t>& slot : g_spares) {
    uint64_t word = slot.load(std::memory_order_relaxed);
    if (word == 0 || !slot.compare_exchange_strong(word, 0, std::memory_order_acquire)) continue;
    g_spare_count.fetch_sub(1, std::memory_order_relaxed);
    Chunk chunk{reinterpret_cast<format::Block*>(word & 0xffffffffffff), static_cast<uint32_t>(word >> 48)};
    if (chunk.blocks > wanted) {
      give_chunk({chunk.first + wanted, chunk.blocks - wanted});
      chunk.blocks = wanted;
    }
    return chunk;
  }
  return {};
}

// A thread needs a chunk and there is none.
Chunk no_room() {
  if (in_ring() || g_closed.load(std::memory_order_relaxed)) return {};
  if (!g_out_of_room.exchange(true, std::memory_order_relaxed)) wake_helper();
  return {};
}

}  // namespace

std::atomic<bool> g_out_of_room{false};

bool open_chunks(uint64_t first_bytes, uint64_t largest) {
  const auto within_limits = [](uint64_t bytes) {
    return bytes < kSmallestSlab ? kSmallestSlab : bytes > kLargestSlab ? kLargestSlab : bytes;
  };
  g_largest = within_limits(largest);
  g_next_bytes.store(within_limits(first_bytes) / format::kBlockBytes * format::kBlockBytes, std::memory_order_relaxed);
  g_closed.store(false, std::memory_order_relaxed);
  g_full.store(false, std::memory_order_relaxed);
  g_out_of_room.store(false, std::memory_order_relaxed);
  Slab* const first = make_slab();
  if (first == nullptr) return false;
  g_current.store(first, std::memory_order_release);
  return true;
}

Chunk take_chunk(uint32_t wanted) {
  if (!g_closed.load(std::memory_order_relaxed) && g_spare_count.load(std::memory_order_relaxed) != 0) {
    if (const Chunk spare = take_spare(wanted); spare.first != nullptr) return spare;
  }
  for (;;) {
    if (g_closed.load(std::memory_order_relaxed)) return {};
    Slab* const slab = g_current.load(std::memory_order_acquire);
    if (slab == nullptr) return {};
    // Read first: a recording that starts before this thread goes on empties the slabs of the one that ended.
    format::Block* const base = slab->base.load(std::memory_order_relaxed);
    if (base == nullptr) return {};
    const uint32_t at = slab->next.fetch_add(wanted, std::memory_order_relaxed);
    if (at < slab->blocks) {
      const uint32_t blocks = at + wanted <= slab->blocks ? wanted : slab->blocks - at;
      const uint32_t due = blocks_before_next(*slab);
      if (at / kWakeEveryBlocks != (at + wanted) / kWakeEveryBlocks || (at < due && at + wanted >= due)) wake_helper();
      return {base + at, blocks};
    }
    if (at >= kClosed) return {};
    slab->next.store(slab->blocks, std::memory_order_relaxed);  // keeps the counter from growing without limit
    Slab* next = g_ready.exchange(nullptr, std::memory_order_acquire);
    if (next == nullptr && g_full.load(std::memory_order_relaxed)) return no_room();
    if (next == nullptr) {
      const uint64_t from = read_clocks().monotonic_ns;
      next = make_slab();
      count(format::LossCounter::slab_waits);
      count(format::LossCounter::slab_wait_ns, read_clocks().monotonic_ns - from);
      if (next == nullptr) return no_room();
    }
    Slab* expected = slab;
    if (!g_current.compare_exchange_strong(expected, next, std::memory_order_release)) {
      Slab* empty = nullptr;  // another thread was faster: keep ours for the next change
      if (!g_ready.compare_exchange_strong(empty, next, std::memory_order_release)) give_whole(*next);
    }
    wake_helper();
  }
}

void give_chunk(Chunk rest) {
  if (rest.first == nullptr) return;
  while (rest.blocks != 0) {
    const uint32_t blocks = rest.blocks < 0xffff ? rest.blocks : 0xffff;
    const uint64_t word = static_cast<uint64_t>(blocks) << 48 | reinterpret_cast<uint64_t>(rest.first);
    bool placed = false;
    for (std::atomic<uint64_t>& slot : g_spares) {
      uint64_t empty = 0;
      if (!slot.compare_exchange_strong(empty, word, std::memory_order_release)) continue;
      g_spare_count.fetch_add(1, std::memory_order_relaxed);
      placed = true;
      break;
    }
    if (!placed) return;  // those blocks stay unused: zeros in the file
    rest.first += blocks;
    rest.blocks -= blocks;
  }
}

bool tend_chunks() {
  if (g_closed.load(std::memory_order_relaxed)) return false;
  bool worked = false;
  if (g_ready.load(std::memory_order_relaxed) == nullptr && !g_full.load(std::memory_order_relaxed)) {
    Slab* const current = g_current.load(std::memory_order_acquire);
    if (current != nullptr && current->next.load(std::memory_order_relaxed) >= blocks_before_next(*current)) {
      if (Slab* const made = make_slab(); made != nullptr) {
        Slab* empty = nullptr;
        if (!g_ready.compare_exchange_strong(empty, made, std::memory_order_release)) give_whole(*made);
        worked = true;
      }
    }
  }
  if (Slab* const current = g_current.load(std::memory_order_acquire); current != nullptr) {
    touch(*current, current->next.load(std::memory_order_relaxed) + kAheadBlocks);
    Slab* const ready = g_ready.load(std::memory_order_acquire);
    if (ready != nullptr && current->next.load(std::memory_order_relaxed) + kAheadBlocks > current->blocks) {
      touch(*ready, kAheadBlocks);
    }
  }
  return worked;
}

void write_back_chunks() {
  if (g_log.backing() != format::Backing::Written) return;
  const uint32_t slabs = g_slab_count.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < slabs && i < kMaxSlabs; ++i) {
    Slab& slab = g_slabs[i];
    const format::Block* const base = slab.base.load(std::memory_order_acquire);
    if (base == nullptr) continue;
    uint32_t used = slab.next.load(std::memory_order_relaxed);
    if (used >= kClosed) used -= kClosed;
    if (used > slab.blocks) used = slab.blocks;
    if (used != 0) g_log.write_back(base, used * format::kBlockBytes, slab.offset);
  }
  g_log.write_back_header();
}

uint64_t close_chunks() {
  g_closed.store(true, std::memory_order_seq_cst);
  uint64_t end = format::kBlocksOffset;
  const uint32_t slabs = g_slab_count.load(std::memory_order_seq_cst);
  for (uint32_t i = 0; i < slabs && i < kMaxSlabs; ++i) {
    Slab& slab = g_slabs[i];
    if (slab.base.load(std::memory_order_seq_cst) == nullptr) continue;
    uint32_t used = slab.next.fetch_add(kClosed, std::memory_order_relaxed);
    if (used > slab.blocks) used = slab.blocks;
    if (used != 0 && slab.offset + used * format::kBlockBytes > end) end = slab.offset + used * format::kBlockBytes;
  }
  return end;
}

bool chunks_are_closed() { return g_closed.load(std::memory_order_relaxed); }

void retire_chunks(uint64_t life) {
  const uint32_t slabs = g_slab_count.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < slabs && i < kMaxSlabs; ++i) {
    if (format::Block* const base = g_slabs[i].base.load(std::memory_order_acquire); base != nullptr)
      retire_log_pages(base, g_slabs[i].blocks * format::kBlockBytes, life);
  }
  abandon_chunks();
}

void abandon_chunks() {
  g_current.store(nullptr, std::memory_order_relaxed);
  g_ready.store(nullptr, std::memory_order_relaxed);
  for (uint32_t i = 0; i < kMaxSlabs && i < g_slab_count.load(std::memory_order_relaxed); ++i)
    g_slabs[i].base.store(nullptr, std::memory_order_relaxed);
  g_slab_count.store(0, std::memory_order_release);  // after the slabs were read: a thread may still make one
  for (std::atomic<uint64_t>& slot : g_spares) slot.store(0, std::memory_order_relaxed);
  g_spare_count.store(0, std::memory_order_relaxed);
}

}  // namespace prof::preload
