// Appending a record to the log. Nothing here allocates, locks, throws or makes a system call on the usual path; the
// slow path (a new chunk of the log) keeps errno. In the program.
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

// Appends a record to one of this thread's streams with the busy flag up. False: dropped and counted.
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

// An event, or a definition: committed when it returns true. The caller is inside a scope that records
// (thread_scope.h).
template <class E> bool emit(const E& event) { return append_record<&ThreadState::events>(event); }
template <class D> bool define(const D& definition) { return append_record<&ThreadState::definitions>(definition); }

// An event that later ones need: among the definitions of a ring, which are not overwritten, as long as there is room
// for it.
template <class E> bool keep(const E& event) {
  size_t bytes = sizeof event;
  if constexpr (requires { event.name; }) bytes += event.name.size();
  return ring_keeps(bytes) ? define(event) : emit(event);
}

}  // namespace prof::preload
