// Where are the intern tables in memory? Address space is reserved and not committed, so a table uses memory only for
// its entries.
#include "preload/record/intern.h"

#include "preload/log/retired.h"

#include <sys/mman.h>

#include <cstddef>

namespace prof::preload {

InternTables g_intern;

bool open_intern_tables(uint64_t ended) {
  constexpr uint32_t kLarge = 1u << 16;
  constexpr uint32_t kSmall = 1u << 12;
  struct Row {
    InternTable* table;
    uint32_t capacity;
  };
  const Row rows[] = {
      {&g_intern.strings, kLarge},       {&g_intern.functions, kLarge},   {&g_intern.modules, kSmall * 4},
      {&g_intern.configs, kLarge},       {&g_intern.contexts, kSmall},    {&g_intern.streams, kLarge},
      {&g_intern.graphs, kSmall * 4},    {&g_intern.gpu_streams, kLarge}, {&g_intern.gpu_kernels, kLarge},
      {&g_intern.nvtx_domains, kSmall},  {&g_intern.nvtx_labels, kLarge}, {&g_intern.nvtx_schemas, kSmall},
      {&g_intern.nvtx_counters, kSmall}, {&g_intern.stacks, kLarge * 4},  {&g_intern.python_frames, kLarge}};
  size_t slots = 0;
  for (const Row& row : rows) slots += row.capacity;
  static void* memory = nullptr;
  const size_t bytes = slots * sizeof(InternTable::Slot);
  if (ended != 0) {
    retire_memory(memory, bytes, ended);
  } else if (memory != nullptr) {
    munmap(memory, bytes);  // the parent's tables, in a forked child
  }
  memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    memory = nullptr;
    return false;
  }
  auto* at = static_cast<InternTable::Slot*>(memory);
  for (const Row& row : rows) {
    row.table->open(at, row.capacity);
    at += row.capacity;
  }
  return true;
}

}  // namespace prof::preload
