// How are the records of one thread packed into blocks of the mapped log? A writer has one kind of records: events or
// definitions. emit() and define() call it with the thread's busy flag set. No other thread may call it, except
// in_call() and in_call_since().
//
//   block:  | header | record record record ····free···· |
//                                            ^ header.committed: one release store after each record
//
// Records are encoded in place after `committed`, where no reader looks. That saves a copy, and a kill at any instant
// leaves whole records. A record near the end of a block is first encoded in a buffer on the stack.
#pragma once

#include "preload/format/codec.h"
#include "preload/log/chunks.h"
#include "preload/log/count.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace prof::preload {

namespace detail {

// The upper bound of the size of an encoded record: 10 bytes per varint field, and its texts. For a record with pairs
// or numbers it is the format's own limit.
struct BoundVisitor {
  size_t bytes = 2;
  bool open = false;
  bool texts = false;
  template <class T> constexpr void value(const char*, const T&) { bytes += sizeof(T) <= 4 ? 5 : 10; }
  template <class T> constexpr void optional(const char*, const T&) { bytes += sizeof(T) <= 4 ? 5 : 10; }
  constexpr void signed_value(const char*, int64_t) { bytes += 10; }
  constexpr void time(const char*, uint64_t) { bytes += 10; }
  constexpr void quick_time(const char*, uint64_t) { bytes += 10; }
  constexpr void quick_value(const char*, uint64_t) { bytes += 10; }
  constexpr void gpu_time(const char*, uint64_t) { bytes += 10; }
  constexpr void correlation(const char*, uint32_t) { bytes += 10; }
  constexpr void depth(const char*, uint64_t) { bytes += 10; }
  constexpr void optional_node(const char*, uint64_t) { bytes += 10; }
  constexpr void text(const char*, std::string_view x) { texts = true, bytes += 10 + x.size(); }
  constexpr void optional_text(const char*, std::string_view x) {
    texts = true, bytes += x.empty() ? 0 : 10 + x.size();
  }
  constexpr void numbers(const char*, const format::Numbers&) { open = true; }
  constexpr void moments(const char*, const format::CallPairs&) { open = true; }
  constexpr void spans(const char*, const format::CallPairs&) { open = true; }
  constexpr void launch_of(const char*, uint32_t, const char*, format::GpuStreamId) { bytes += 15; }
};
// Of any record of this kind.
template <class T> constexpr size_t bound_of() {
  BoundVisitor v;
  const T record{};
  T::visit(record, v);
  return v.open || v.texts ? format::kMaxRecordBytes : v.bytes;
}
// Of this record. Half of a block would be too short for any record with a text, and most texts are empty.
template <class T> constexpr size_t bound_of(const T& record) {
  BoundVisitor v;
  T::visit(record, v);
  return v.open ? format::kMaxRecordBytes : v.bytes;
}

}  // namespace detail

class BlockWriter {
 public:
  // Prepares the writer for a new thread. Takes no block yet.
  void open(format::BlockKind kind, uint32_t thread);
  // In a ring, every block from the next one on starts with this definition, because the first block of events will be
  // reused.
  void repeat(const format::ThreadDef& thread);
  // Returns the unused rest of the chunk. The current block stays unsealed; `committed` is its size. In a ring it is
  // sealed.
  void close();
  // Drops the blocks without touching them: in the child of a fork, or if an earlier recording owns them.
  void abandon();

  template <class T> bool append(const T& record) {
    if (format::kPayloadBytes - used_ >= detail::bound_of(record)) [[likely]] {
      uint8_t* const from = block_->payload + used_;
      commit(static_cast<size_t>(format::encode(from, record, state_) - from));
      return true;
    }
    return append_near_end(record);
  }

  void enter_call(uint32_t api, uint64_t tick) {
    if (block_ == nullptr) [[unlikely]]
      return;
    block_->header.in_call_tick = tick;
    std::atomic_ref(block_->header.in_call_api).store(api, std::memory_order_release);
  }
  // A call was left without exit_call(), or a signal handler on another stack is inside it. The handler may open the
  // next block in the middle of enter_call(), which then writes into the old block. So the next blocks get no checksum.
  // (A check in enter_call() cost 1.5 ns per launch.)
  void call_was_abandoned() { unsealed_ = ring_ ? 0 : 2; }
  // Whether the thread is inside a call. Another thread calls it, and must treat the result as a hint: the block may
  // have been replaced meanwhile.
  bool in_call() const;
  // Whether the thread was inside a call since the start of its block or before. Another thread calls it: a hint.
  bool has_made_calls() const;
  // The same as in_call(), returning the function and the tick of its entry. Returns 0 if there is no call, or if the
  // call changed while it was read.
  uint32_t in_call_since(uint64_t& tick) const;
  void exit_call() {
    if (block_ != nullptr) [[likely]]
      std::atomic_ref(block_->header.in_call_api).store(0, std::memory_order_relaxed);
  }

 private:
  // The record is passed by value: a record whose address is passed on could not stay in registers.
  template <class T> __attribute__((cold, noinline)) bool append_near_end(T record) {
    if (out_of_room()) return drop();
    uint8_t bytes[detail::bound_of<T>()];
    if (block_ != nullptr) {
      format::CodecState state = state_;
      const size_t size = static_cast<size_t>(format::encode(bytes, record, state) - bytes);
      if (size <= format::kPayloadBytes - used_) return copy_in(bytes, size, state);
    }
    if (!next_block()) return false;
    const size_t size = static_cast<size_t>(format::encode(bytes, record, state_) - bytes);
    return copy_in(bytes, size, state_);
  }
  bool drop();
  bool copy_in(const uint8_t* bytes, size_t size, const format::CodecState& state);
  void commit(size_t size) {
    const uint32_t used = used_ + static_cast<uint32_t>(size);
    ++records_;
    std::atomic_ref(block_->header.committed).store(used, std::memory_order_release);
    used_ = used;
  }
  // Seals the full block and opens the next one. Returns false (counted) if the log has no room. Keeps errno.
  bool next_block();
  void seal();
  void define_thread();

  // Every record of the program touches the first 48 of these bytes, which are in one cache line (ThreadState).
  format::Block* block_ = nullptr;
  uint32_t used_ = format::kPayloadBytes;  // without a block there is no room in it
  uint32_t records_ = 0;
  format::CodecState state_;

  format::Block* chunk_ = nullptr;  // unused blocks of this writer, after block_
  uint32_t chunk_left_ = 0;
  uint32_t chunk_size_ = 1;  // of the next chunk: 1, 2 or 4 blocks
  uint32_t thread_ = 0;
  uint64_t sequence_ = 0;
  format::BlockKind kind_ = format::BlockKind::Events;
  bool ring_ = false;              // the blocks are reused
  format::Block* held_ = nullptr;  // sealed last; the ring has not got it yet
  uint16_t ring_generation_ = 0;
  uint8_t unsealed_ = 0;  // so many next blocks get no checksum
  bool repeats_ = false;
  char name_[16] = {};  // of the thread, if its definition is repeated
  uint32_t tid_ = 0;
  uint64_t first_tick_ = 0;
};

}  // namespace prof::preload
