#include "preload/log/ring.h"

#include "preload/base/clock.h"
#include "preload/base/helper_wake.h"
#include "preload/base/messages.h"
#include "preload/base/options.h"
#include "preload/base/page_size.h"
#include "preload/log/count.h"
#include "preload/log/log_storage.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace prof::preload {

namespace {

// A cell: the address of a sealed block (48 bits, the lowest 12 of them 0) and its generation (16 bits).
// kTaken: the block was taken although it was not the first in the queue.
constexpr uint64_t kEmpty = 0, kTaken = 1;
constexpr uint64_t kSmallestRing = option::Ring::kLeastBytes;
constexpr uint64_t kFewestCells = 1u << 16, kCellsForSeconds = 1u << 20;
// Number of cells that are searched for the first block. A cell may be empty if a thread was stopped while it added a
// block.
constexpr uint64_t kLook = 256;
constexpr int64_t kKeptOfSeconds = 8 << 20;
constexpr uint64_t kRingAheadBlocks = 256, kRingWakeEveryBlocks = 64;

struct Ring {
  std::atomic<uint64_t>* cells = nullptr;
  uint64_t mask = 0;
  std::atomic<uint64_t> head{0}, tail{0};
  uint64_t touched = 0;           // positions before it were touched; the helper thread's
  std::atomic<uint32_t> left{0};  // fresh blocks by which the ring may still grow
  std::atomic<uint16_t> generation{0};
  std::atomic<bool> on{false};
  std::atomic<bool> closed{false};
  std::atomic<bool> no_room{false};   // for another fresh block: the ring keeps its size
  std::atomic<uint32_t> inside{0};    // threads that may be taking a used block
  uint64_t keep_ticks = 0;            // for a ring of seconds
  std::atomic<int64_t> keep_left{0};  // bytes left for ring_keeps()
};
Ring g_ring;

format::Block* block_of(uint64_t entry) { return reinterpret_cast<format::Block*>(entry & 0xfffffffff000); }
uint16_t generation_of(uint64_t entry) { return static_cast<uint16_t>(entry >> 48); }
bool is_block(uint64_t entry) { return entry != kEmpty && entry != kTaken; }

// Another thread may be using the block again. The result is valid only if the block is then taken by compare-and-swap.
__attribute__((no_sanitize("thread"))) uint64_t sealed_at(const format::Block* block) {
  return __atomic_load_n(&block->header.in_call_tick, __ATOMIC_RELAXED);
}

// Takes the block that was sealed first, if that was at or before tick `latest`; null if there is none.
format::Block* take_oldest(uint64_t latest) {
  for (uint64_t at = g_ring.head.load(std::memory_order_relaxed), looked = 0; looked < kLook; ++at, ++looked) {
    const uint64_t tail = g_ring.tail.load(std::memory_order_relaxed);
    if (at >= tail) return nullptr;
    std::atomic<uint64_t>& cell = g_ring.cells[at & g_ring.mask];
    uint64_t entry = cell.load(std::memory_order_acquire);
    uint64_t head = g_ring.head.load(std::memory_order_relaxed);
    if (head > at) {  // other threads were faster
      at = head - 1;
      continue;
    }
    const bool first = head == at;
    const bool ours = is_block(entry) && generation_of(entry) == g_ring.generation.load(std::memory_order_relaxed);
    if (ours && sealed_at(block_of(entry)) > latest) return nullptr;
    if (is_block(entry) && !cell.compare_exchange_strong(entry, first ? kEmpty : kTaken, std::memory_order_acquire))
      continue;
    // Advance the head past a taken cell, and in the end also past a cell that stays empty. The block of that cell is
    // found when the queue wraps around.
    if (first && (entry != kEmpty || tail - at > kLook) &&
        g_ring.head.compare_exchange_strong(head, at + 1, std::memory_order_relaxed) && entry == kTaken)
      cell.compare_exchange_strong(entry, kEmpty, std::memory_order_relaxed);
    if (ours) return block_of(entry);
    if (is_block(entry)) --looked;  // of an earlier recording
  }
  return nullptr;
}

void note_overwritten(const format::BlockHeader& header) {
  format::RingWords& words = g_log.counters()->ring;
  const std::atomic_ref<uint64_t> horizon(words.horizon_tick);
  uint64_t seen = horizon.load(std::memory_order_relaxed);
  while (seen < header.in_call_tick &&
         !horizon.compare_exchange_weak(seen, header.in_call_tick, std::memory_order_relaxed)) {}
  const uint32_t repeated = header.sequence != 0 ? 1 : 0;  // the repeated definition of its thread
  const uint32_t records = header.records > repeated ? header.records - repeated : 0;
  std::atomic_ref(words.records).fetch_add(records, std::memory_order_relaxed);
  if (std::atomic_ref(words.blocks).fetch_add(1, std::memory_order_release) % kRingWakeEveryBlocks == 0) wake_helper();
}

// Empties a block that no other thread has, in three steps: the horizon is written, the block is marked as empty, its
// records are cleared. A kill between any two stores leaves a log whose contents are true. A process that copies the
// log meanwhile sees the steps in this order too: the fence keeps the clearing stores after the mark.
void empty(format::Block* block) {
  note_overwritten(block->header);
  std::atomic_ref(block->header.magic).store(format::kBlockGoneMagic, std::memory_order_release);
  std::atomic_thread_fence(std::memory_order_release);
  std::memset(reinterpret_cast<char*>(block) + sizeof block->header.magic, 0,
              sizeof *block - sizeof block->header.magic);
}

bool map_cells(uint64_t blocks) {
  uint64_t cells = kFewestCells;
  while (cells < 2 * blocks) cells *= 2;
  if (g_ring.cells != nullptr && g_ring.mask == cells - 1) return true;
  if (g_ring.cells != nullptr) munmap(g_ring.cells, (g_ring.mask + 1) * sizeof *g_ring.cells);
  void* const memory = mmap(nullptr, cells * sizeof *g_ring.cells, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  g_ring.cells = memory == MAP_FAILED ? nullptr : static_cast<std::atomic<uint64_t>*>(memory);
  g_ring.mask = cells - 1;
  return g_ring.cells != nullptr;
}

bool is_nearly_full(uint64_t capacity) {
  const uint64_t head = g_ring.head.load(std::memory_order_relaxed);
  const uint64_t tail = g_ring.tail.load(std::memory_order_relaxed);
  return tail > head && tail - head > capacity / 4 * 3;
}

// Takes a used block and empties it. Returns null if there is none, or if the log is closed, because nothing may be
// overwritten then.
format::Block* take_used(uint64_t latest) {
  g_ring.inside.fetch_add(1, std::memory_order_seq_cst);
  format::Block* const old = g_ring.closed.load(std::memory_order_seq_cst) ? nullptr : take_oldest(latest);
  if (old != nullptr) empty(old);
  g_ring.inside.fetch_sub(1, std::memory_order_release);
  return old;
}

Chunk take_unused(uint32_t wanted) {
  if (g_ring.no_room.load(std::memory_order_relaxed)) return {};
  const Chunk fresh = take_chunk(wanted);
  if (fresh.first == nullptr) g_ring.no_room.store(true, std::memory_order_relaxed);
  return fresh;
}

uint32_t take_fresh(uint32_t wanted) {
  uint32_t left = g_ring.left.load(std::memory_order_relaxed);
  for (;;) {
    const uint32_t blocks = left < wanted ? left : wanted;
    if (blocks == 0) return 0;
    if (g_ring.left.compare_exchange_weak(left, left - blocks, std::memory_order_relaxed)) return blocks;
  }
}

}  // namespace

// The queue still contains entries of an earlier recording; they have another generation. So it need not be cleared
// while threads that were cut off use it.
bool open_ring(option::Ring size) {
  g_ring.on.store(false, std::memory_order_relaxed);
  if (!size.wanted()) return true;
  if (size.bytes != 0 && size.bytes < kSmallestRing) {
    static std::atomic<bool> said{false};
    say(said, "PROF_RING is less than 1M: the ring has 1M");
    size.bytes = kSmallestRing;
  }
  const uint64_t blocks = size.bytes / format::kBlockBytes;
  if (blocks > UINT32_MAX / 4 || !map_cells(size.bytes != 0 ? blocks : kCellsForSeconds / 2)) return false;
  const uint16_t before = g_ring.generation.load(std::memory_order_relaxed);
  g_ring.generation.store(before == UINT16_MAX ? 1 : static_cast<uint16_t>(before + 1), std::memory_order_relaxed);
  g_ring.left.store(size.bytes != 0 ? static_cast<uint32_t>(blocks) : 0, std::memory_order_relaxed);
  const auto ticks = static_cast<unsigned __int128>(size.ns) * g_clock.ticks_per_second / 1'000'000'000;
  g_ring.keep_ticks = ticks > UINT64_MAX / 2 ? UINT64_MAX / 2 : static_cast<uint64_t>(ticks);
  g_ring.keep_left.store(size.bytes != 0 ? static_cast<int64_t>(size.bytes / 8) : kKeptOfSeconds,
                         std::memory_order_relaxed);
  g_log.counters()->ring.bytes = size.bytes != 0 ? size.bytes : ~0ull;
  g_ring.closed.store(false, std::memory_order_relaxed);
  g_ring.no_room.store(false, std::memory_order_relaxed);
  g_ring.on.store(true, std::memory_order_relaxed);
  return true;
}

bool in_ring() { return g_ring.on.load(std::memory_order_relaxed); }
uint16_t ring_generation() { return g_ring.generation.load(std::memory_order_relaxed); }

bool ring_keeps(size_t bytes) {
  if (!in_ring()) return false;
  const auto wanted = static_cast<int64_t>(bytes);
  int64_t left = g_ring.keep_left.load(std::memory_order_relaxed);
  while (left >= wanted) {
    if (g_ring.keep_left.compare_exchange_weak(left, left - wanted, std::memory_order_relaxed)) return true;
  }
  count(format::LossCounter::ring_unkept);
  return false;
}

Chunk take_ring_chunk(uint32_t wanted) {
  if (g_ring.keep_ticks != 0) {
    const uint64_t now = now_ticks();
    const uint64_t oldest_kept = now > g_ring.keep_ticks ? now - g_ring.keep_ticks : 0;
    const uint64_t latest = is_nearly_full(g_ring.mask + 1) ? UINT64_MAX : oldest_kept;
    if (format::Block* const old = take_used(latest); old != nullptr) return {old, 1};
    if (const Chunk fresh = take_unused(wanted); fresh.first != nullptr) return fresh;
  } else if (const uint32_t blocks = take_fresh(wanted); blocks != 0) {
    const Chunk fresh = take_unused(blocks);
    leave_ring(blocks - fresh.blocks);
    if (fresh.first != nullptr) return fresh;
  }
  // Also if the disk or PROF_MAX_SIZE has no room for the rest of the ring.
  if (format::Block* const old = take_used(UINT64_MAX); old != nullptr) return {old, 1};
  const Chunk more = g_ring.keep_ticks != 0 ? Chunk{} : take_unused(1);
  if (more.first != nullptr) count(format::LossCounter::ring_grown);
  return more;
}

void close_ring() {
  g_ring.closed.store(true, std::memory_order_seq_cst);
  for (int tries = 0; tries < 50 && g_ring.inside.load(std::memory_order_seq_cst) != 0; ++tries) sleep_ns(1'000'000);
}

void leave_ring(uint32_t blocks) {
  if (blocks != 0 && g_ring.keep_ticks == 0) g_ring.left.fetch_add(blocks, std::memory_order_relaxed);
}

void give_to_ring(format::Block* block, uint16_t generation) {
  if (!in_ring() || generation != ring_generation()) return;
  const uint64_t entry = static_cast<uint64_t>(generation) << 48 | reinterpret_cast<uint64_t>(block);
  for (uint64_t tries = 0; tries <= kLook; ++tries) {
    const uint64_t at = g_ring.tail.fetch_add(1, std::memory_order_relaxed);
    uint64_t empty = kEmpty;
    if (g_ring.cells[at & g_ring.mask].compare_exchange_strong(empty, entry, std::memory_order_release)) return;
  }
  // There are more blocks than the queue has cells: this block keeps its records and is not used again.
}

void tend_ring() {
  if (!in_ring() || g_ring.left.load(std::memory_order_relaxed) != 0) return;
  const uint64_t head = g_ring.head.load(std::memory_order_relaxed);
  const uint64_t tail = g_ring.tail.load(std::memory_order_relaxed);
  if (g_ring.touched < head) g_ring.touched = head;
  const uint64_t until = tail < head + kRingAheadBlocks ? tail : head + kRingAheadBlocks;
  for (; g_ring.touched < until; ++g_ring.touched) {
    const uint64_t entry = g_ring.cells[g_ring.touched & g_ring.mask].load(std::memory_order_relaxed);
    if (!is_block(entry) || generation_of(entry) != ring_generation()) continue;
    // If the kernel has written the page back, it is read-only, and the first store would wait for the file system
    // inside a hook.
    char* const block = reinterpret_cast<char*>(block_of(entry));
    const size_t before = bytes_into_page(block);
    if (madvise(block - before, before + format::kBlockBytes, MADV_POPULATE_WRITE) != 0) return;
  }
}

void abandon_ring() {
  g_ring.on.store(false, std::memory_order_relaxed);
  if (g_ring.cells != nullptr) munmap(g_ring.cells, (g_ring.mask + 1) * sizeof *g_ring.cells);
  g_ring.cells = nullptr;
  g_ring.head.store(0, std::memory_order_relaxed);
  g_ring.tail.store(0, std::memory_order_relaxed);
  g_ring.touched = 0;
  g_ring.inside.store(0, std::memory_order_relaxed);
}

}  // namespace prof::preload
