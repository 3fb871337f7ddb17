// How is a record appended to the log? Hooks, subsystems and the helper thread use this code. It must not allocate,
// lock, throw or make a system call. The slow path (a new chunk of the log) may make one, and keeps errno. This code
// runs in the program.
#pragma once

#include "preload/format/codec.h"
#include "preload/log/count.h"
#include "preload/log/ring.h"
#include "preload/record/thread.h"
#include "preload/record/thread_local.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace prof::preload {

// Appends a record to one stream of this thread, with the busy flag set. Returns false if the record is lost (counted).
template <BlockWriter ThreadState::*stream, class Record> bool append_record(const Record& record) {
  ThreadLocal& local = t_local;
  if (local.state == nullptr) [[unlikely]] {  // outside a scope
    count(format::LossCounter::no_thread_state);
    return false;
  }
  if ((local.passing & kPassingBusy) != 0) [[unlikely]] {
    count(format::LossCounter::records_dropped_busy);
    return false;
  }
  local.passing |= kPassingBusy;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const bool ok = (local.state->*stream).append(record);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  local.passing &= static_cast<uint16_t>(~kPassingBusy);
  return ok;
}

// Appends an event. If it returns true, the record is committed. The caller must be inside a scope that records
// (thread_scope.h).
template <class E> bool emit(const E& event) { return append_record<&ThreadState::events>(event); }

// The definition of an id for one use is an event, directly before the record that uses the id. Counts what it costs.
template <class D> __attribute__((noinline, cold)) bool define_once(const D& definition) {
  if (!emit(definition)) return false;
  uint8_t bytes[format::kMaxRecordBytes];
  format::CodecState state;  // no field of a definition is a difference to an earlier record
  count(format::LossCounter::definitions_inline);
  count(format::LossCounter::definitions_inline_bytes,
        static_cast<uint64_t>(format::encode(bytes, definition, state) - bytes));
  return true;
}

// Appends a definition, as emit() appends an event.
template <class D> bool define(const D& definition) {
  if constexpr (format::is_one_of<D>(format::IdsForOneUse{})) {
    if (static_cast<uint32_t>(definition.id) >= format::kFirstOnceId) [[unlikely]]
      return define_once(definition);
  }
  return append_record<&ThreadState::definitions>(definition);
}

// Appends an event that later events need. A ring stores it among its definitions, which are not overwritten, as long
// as there is room.
template <class E> bool keep(const E& event) {
  size_t bytes = sizeof event;
  if constexpr (requires { event.name; }) bytes += event.name.size();
  return ring_keeps(bytes) ? define(event) : emit(event);
}

}  // namespace prof::preload
