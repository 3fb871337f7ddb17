// Packs the records of one thread and one kind (events or definitions) into blocks of the mapped log. Called by emit() and
// define() with the thread's busy flag held; used by no other thread.
//
//   block:  | header | record record record ····free···· |
//                                            ^ header.committed: one release store after each record
//
// Records are encoded in place behind `committed`, where no reader looks, and only near the end of a block through a stack
// buffer: that saves a copy, and a kill at any instant leaves whole records.
#pragma once

#include "preload/format/codec.h"
#include "preload/log/count.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace prof::preload {

namespace detail {

// Upper bound of an encoded record: 10 bytes a varint field; with texts or pairs the format's own limit.
struct BoundVisitor {
  size_t bytes = 2;
  bool open = false;
  template <class T> constexpr void value(const char*, const T&) { bytes += sizeof(T) <= 4 ? 5 : 10; }
  template <class T> constexpr void optional(const char*, const T&) { bytes += sizeof(T) <= 4 ? 5 : 10; }
  constexpr void signed_value(const char*, int64_t) { bytes += 10; }
  constexpr void time(const char*, uint64_t) { bytes += 10; }
  constexpr void gpu_time(const char*, uint64_t) { bytes += 10; }
  constexpr void correlation(const char*, uint32_t) { bytes += 10; }
  constexpr void depth(const char*, uint64_t) { bytes += 10; }
  constexpr void optional_node(const char*, uint64_t) { bytes += 10; }
  constexpr void text(const char*, std::string_view) { open = true; }
  constexpr void optional_text(const char*, std::string_view) { open = true; }
  constexpr void gpu_pairs(const char*, const format::CallPairs&) { open = true; }
  constexpr void numbers(const char*, const format::Numbers&) { open = true; }
  constexpr void moments(const char*, const format::CallPairs&) { open = true; }
  constexpr void launch_of(const char*, uint32_t, const char*, format::GpuStreamId) { bytes += 15; }
};
template <class T> constexpr size_t bound_of() {
  BoundVisitor v;
  const T record{};
  T::visit(record, v);
  return v.open ? format::kMaxRecordBytes : v.bytes;
}

}  // namespace detail

class BlockWriter {
 public:
  // Prepares for a new thread; takes no block yet.
  void open(format::BlockKind kind, uint32_t thread);
  // Of a ring: every block from the next one on begins with this definition, because the first of events will be used again.
  void repeat(const format::ThreadDef& thread);
  // Gives the rest of the chunk back. The current block stays as it is: bounded by its commit, unsealed; of a ring it is sealed.
  void close();
  // The same after fork: forgets the parent's blocks without touching them.
  void abandon();

  template <class T> bool append(const T& record) {
    constexpr size_t kBound = detail::bound_of<T>();
    if (format::kPayloadBytes - used_ >= kBound && block_ != nullptr) [[likely]] {
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
  // A call was left, or a signal handler on another stack is inside it. The latter may go on to the next block in the middle of
  // enter_call(), which then writes into the old one: the next blocks get no checksum. (Asked in enter_call() it cost 1.5 ns a launch.)
  void call_was_left() { unsealed_ = ring_ ? 0 : 2; }
  // Asked by another thread, which must not trust it: the block may be another one by now.
  bool in_call() const;
  // The same with the function; 0: none, or it changed in the middle of the answer.
  uint32_t in_call_since(uint64_t& tick) const;
  void leave_call() {
    if (block_ != nullptr) [[likely]]
      std::atomic_ref(block_->header.in_call_api).store(0, std::memory_order_relaxed);
  }

 private:
  // By value: a record whose address is given away could not stay in registers.
  template <class T> __attribute__((cold, noinline)) bool append_near_end(T record) {
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
  bool copy_in(const uint8_t* bytes, size_t size, const format::CodecState& state);
  void commit(size_t size) {
    const uint32_t used = used_ + static_cast<uint32_t>(size);
    ++records_;
    std::atomic_ref(block_->header.committed).store(used, std::memory_order_release);
    used_ = used;
  }
  // Seals the full block and opens the next one; false (counted) where the log has no room. Keeps errno.
  bool next_block();
  void seal();
  void define_thread();

  // What every record touches, 56 bytes of one line of the cache (ThreadState).
  format::Block* block_ = nullptr;
  uint32_t used_ = 0;
  uint32_t records_ = 0;
  format::CodecState state_;

  format::Block* chunk_ = nullptr;  // blocks behind block_ that are ours too
  uint32_t chunk_left_ = 0;
  uint32_t chunk_size_ = 1;  // of the next chunk: 1, 2, 4 blocks
  uint32_t thread_ = 0;
  uint64_t sequence_ = 0;
  format::BlockKind kind_ = format::BlockKind::Events;
  bool ring_ = false;              // its blocks are used again
  format::Block* held_ = nullptr;  // the one that was sealed last: not yet
  uint16_t ring_generation_ = 0;
  uint8_t unsealed_ = 0;  // so many blocks are left without a checksum
  bool repeats_ = false;
  char name_[16] = {};  // of the thread, if it is repeated
  uint32_t tid_ = 0;
  uint64_t first_tick_ = 0;
};

}  // namespace prof::preload
