// Where are the intern tables in memory? Address space is reserved and not committed, so a table uses memory only for
// its entries.
#include "preload/record/intern.h"

#include "preload/log/retired.h"
#include "preload/record/thread_local.h"

#include <sys/mman.h>

#include <cstddef>

namespace prof::preload {

InternTables g_intern;

namespace {

void* map_slots(size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

}  // namespace

bool InternTable::grow(uint32_t segments) {
  if (segments >= most_) return false;
  const KeepErrno keep;
  const size_t bytes = size_t{slots_of(segments)} * sizeof(Slot);
  if (slots_[segments].load(std::memory_order_acquire) == nullptr) {
    auto* const made = static_cast<Slot*>(map_slots(bytes));
    if (made == nullptr) return false;
    Slot* expected = nullptr;
    if (!slots_[segments].compare_exchange_strong(expected, made, std::memory_order_acq_rel)) munmap(made, bytes);
  }
  uint32_t expected = segments;
  count_.compare_exchange_strong(expected, segments + 1, std::memory_order_release);
  return true;
}

// The limits hold 2 million launch shapes and 286,000 kernel names. All tables together have at
// most 88 MiB, and a program with few names touches a page for each of them. In a ring, definitions are never
// overwritten; its tables do not grow, so that the file stays bounded.
bool open_intern_tables(uint64_t ended) {
  constexpr uint32_t kLarge = 1u << 16, kSmall = 1u << 12;
  struct Row {
    InternTable* table;
    uint32_t capacity;  // of the first segment
    uint32_t segments;  // 1: 7/8 of the capacity, 2: 5 times that, 3: 21 times, 4: 37 times
  };
  const Row rows[] = {{&g_intern.strings, kLarge, 3},          {&g_intern.functions, kLarge, 2},
                      {&g_intern.function_handles, kLarge, 2}, {&g_intern.modules, kSmall * 4, 3},
                      {&g_intern.configs, kLarge, 4},          {&g_intern.gpu_streams, kLarge, 2},
                      {&g_intern.gpu_kernels, kLarge, 4},      {&g_intern.nvtx_domains, kSmall, 3},
                      {&g_intern.nvtx_labels, kLarge, 3},      {&g_intern.nvtx_schemas, kSmall, 3},
                      {&g_intern.nvtx_counters, kSmall, 3},    {&g_intern.stacks, kLarge, 3},
                      {&g_intern.python_frames, kLarge, 2}};
  size_t slots = 0;
  for (const Row& row : rows) slots += row.capacity;
  static void* memory = nullptr;
  const auto release = [&](void* of, size_t bytes) {
    if (ended != 0) {
      retire_memory(of, bytes, ended);
    } else if (of != nullptr) {
      munmap(of, bytes);  // the parent's tables, in a forked child
    }
  };
  for (const Row& row : rows) {
    for (uint32_t segment = 1; segment < InternTable::kMostSegments; ++segment) {
      size_t bytes = 0;
      void* const grown = row.table->take_segment(segment, bytes);
      release(grown, bytes);
    }
  }
  const size_t bytes = slots * sizeof(InternTable::Slot);
  release(memory, bytes);
  memory = map_slots(bytes);
  if (memory == nullptr) return false;
  auto* at = static_cast<InternTable::Slot*>(memory);
  for (const Row& row : rows) {
    row.table->open(at, row.capacity, in_ring() ? 1 : row.segments);
    at += row.capacity;
  }
  return true;
}

}  // namespace prof::preload
