#include "preload/record/block_writer.h"

#include "preload/base/clock.h"
#include "preload/format/crc.h"
#include "preload/log/chunks.h"
#include "preload/log/ring.h"
#include "preload/record/intern.h"
#include "preload/record/thread.h"
#include "preload/record/thread_local.h"

#include <cstring>

namespace prof::preload {

void BlockWriter::open(format::BlockKind kind, uint32_t thread) {
  abandon();
  kind_ = kind;
  thread_ = thread;
  sequence_ = 0;
  chunk_size_ = 1;
  repeats_ = false;
  ring_ = kind == format::BlockKind::Events && in_ring();
  ring_generation_ = ring_generation();
}

void BlockWriter::repeat(const format::ThreadDef& thread) {
  if (!in_ring()) return;
  const size_t size = thread.name.size() < sizeof name_ - 1 ? thread.name.size() : sizeof name_ - 1;
  std::memcpy(name_, thread.name.data(), size);
  name_[size] = '\0';
  tid_ = thread.tid;
  first_tick_ = thread.first_tick;
  repeats_ = true;
}

void BlockWriter::define_thread() {
  format::ThreadDef definition;
  definition.thread = format::ThreadOrdinal{thread_};
  definition.tid = tid_;
  definition.first_tick = first_tick_;
  definition.name = name_;
  commit(static_cast<size_t>(format::encode(block_->payload, definition, state_) - block_->payload));
}

void BlockWriter::abandon() {
  block_ = chunk_ = held_ = nullptr;
  chunk_left_ = 0;
  state_ = {};
  used_ = format::kPayloadBytes;
  records_ = 0;
}

void BlockWriter::close() {
  if (chunk_left_ != 0) give_chunk({chunk_, chunk_left_});
  if (ring_) {
    leave_ring(chunk_left_);
    if (block_ != nullptr) seal();
    if (held_ != nullptr) give_to_ring(held_, ring_generation_);
  }
  abandon();
}

bool BlockWriter::copy_in(const uint8_t* bytes, size_t size, const format::CodecState& state) {
  if (size > format::kPayloadBytes - used_) {
    count(format::LossCounter::records_dropped_large);
    return false;
  }
  std::memcpy(block_->payload + used_, bytes, size);
  state_ = state;
  commit(size);
  return true;
}

bool BlockWriter::drop() {
  count(is_cut_off() || chunks_are_closed() ? format::LossCounter::after_exit
                                            : format::LossCounter::records_dropped_full);
  return false;
}

void BlockWriter::seal() {
  format::BlockHeader& header = block_->header;
  header.records = records_;
  header.in_call_api = 0;  // the next block contains it
  if (unsealed_ != 0) {
    --unsealed_;
    return;
  }
  if (ring_) header.in_call_tick = now_ticks();
  header.flags = format::kBlockSealed;
  uint32_t crc[4];
  format::block_crc(*block_, crc);
  std::memcpy(header.crc, crc, sizeof crc);
  if (!ring_) return;
  // Only the block before this one may be reused now. So the last events of a thread remain in the log, even if the
  // thread is stopped for long before its next record.
  if (held_ != nullptr) give_to_ring(held_, ring_generation_);
  held_ = block_;
}

// Another thread calls this while the owner changes `block_`. Both the old and the new block are mapped memory. A wrong
// result only changes whether the caller waits a little longer.
__attribute__((no_sanitize("thread"))) bool BlockWriter::in_call() const {
  format::Block* const block = block_;
  return block != nullptr && std::atomic_ref(block->header.in_call_api).load(std::memory_order_relaxed) != 0;
}

__attribute__((no_sanitize("thread"))) bool BlockWriter::has_made_calls() const {
  format::Block* const block = block_;
  return block != nullptr && std::atomic_ref(block->header.in_call_tick).load(std::memory_order_relaxed) != 0;
}

__attribute__((no_sanitize("thread"))) uint32_t BlockWriter::in_call_since(uint64_t& tick) const {
  format::Block* const block = block_;
  if (block == nullptr) return 0;
  const std::atomic_ref api(block->header.in_call_api);
  const uint32_t before = api.load(std::memory_order_acquire);
  tick = std::atomic_ref(block->header.in_call_tick).load(std::memory_order_acquire);
  return api.load(std::memory_order_relaxed) == before ? before : 0;
}

bool BlockWriter::next_block() {
  const KeepErrno keep;
  if (is_cut_off()) {
    count(format::LossCounter::after_exit);
    return false;
  }
  const uint32_t in_call = block_ != nullptr ? block_->header.in_call_api : 0;
  const uint64_t in_call_tick = block_ != nullptr ? block_->header.in_call_tick : 0;
  if (chunk_left_ == 0) {
    const Chunk chunk = ring_ ? take_ring_chunk(chunk_size_) : take_chunk(chunk_size_);
    if (chunk.first == nullptr) {
      count(chunks_are_closed() ? format::LossCounter::after_exit : format::LossCounter::records_dropped_full);
      return false;
    }
    chunk_ = chunk.first;
    chunk_left_ = chunk.blocks;
    if (chunk_size_ < 4) chunk_size_ *= 2;
  }
  if (block_ != nullptr) seal();
  block_ = chunk_++;
  --chunk_left_;
  used_ = 0;
  records_ = 0;
  // Ticks continue from those of the last block, so that the first difference is small too.
  const uint64_t base = state_.tick != 0 ? state_.tick : now_ticks();
  state_ = {};
  state_.tick = base;
  format::BlockHeader& header = block_->header;
  header.kind = kind_;
  header.flags = 0;
  header.thread = thread_;
  header.committed = 0;
  header.sequence = sequence_++;
  header.base_tick = state_.tick;
  header.in_call_tick = in_call_tick;
  header.in_call_api = in_call;
  // This store is the last one: before it, readers treat the block as unused.
  std::atomic_ref(header.magic).store(format::kBlockMagic, std::memory_order_release);
  if (repeats_) define_thread();
  return true;
}

}  // namespace prof::preload
