#include "preload/log/blocks.h"

#include "preload/base/options.h"
#include "preload/log/chunks.h"
#include "preload/log/log_storage.h"
#include "preload/log/ring.h"

namespace prof::preload {

// A ring grows in steps of a sixteenth of its size, so that the file is not much larger than the ring.
bool open_blocks() {
  const option::Ring size = options().ring;
  if (!open_ring(size)) return false;
  if (size.bytes == 0) return open_chunks(kSmallestSlab, options().slab);
  const uint64_t slab = size.bytes / 16 < options().slab ? size.bytes / 16 : options().slab;
  return open_chunks(slab, slab);
}

void tend_blocks() {
  tend_chunks();
  tend_ring();
}

void write_back_blocks() { write_back_chunks(); }

// A log that is not mapped has its counters in memory, and only a recording writes them to the file.
bool blocks_ran_out() { return out_of_room() && g_log.backing() == format::Backing::Mapped; }

uint64_t close_blocks() {
  close_ring();
  return close_chunks();
}

void retire_blocks(uint64_t life) { retire_chunks(life); }

void abandon_blocks() {
  abandon_chunks();
  abandon_ring();
}

}  // namespace prof::preload
