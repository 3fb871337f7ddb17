// Recorded threads: their state, from the first record to the thread's end.
#pragma once

#include "preload/base/stack_memory.h"
#include "preload/record/block_writer.h"
#include "preload/record/kept_fills.h"
#include "preload/record/thread_local.h"

#include <atomic>
#include <cstdint>

namespace prof::preload {

struct StreamState;  // capture/streams/stream_table.h
struct StackMemo;    // stacks/stack_memo.h

// One recorded thread. Slots live in memory of ours and are reused after the thread ended.
struct alignas(64) ThreadState {
  StreamState* last_stream =
      nullptr;  // where its last launch on a created stream went; in one line with what a record touches
  BlockWriter events;
  BlockWriter definitions;
  uint32_t ordinal = 0;  // format::ThreadOrdinal
  uint32_t tid = 0;
  uint32_t handle = 0;  // low half of pthread_self(), by which CUPTI names threads to those who ask for nothing else
  OwnStack own_stack;
  StackMemo* memo = nullptr;  // stacks it had before
  KeptFills fills;            // that a repeated launch takes along
  uint32_t learning = 0;      // inside the reading of unwind tables, which a signal handler must not start again
  std::atomic<uint32_t> in_use{0};
  std::atomic<uint64_t> life{0};  // the epoch that it was opened in
};

// Gives this thread a state of the current life and records its ThreadDef. False: counted. Keeps errno.
bool open_thread();
// Once per life, before the first open_thread(); in a forked child forgets the parent's threads. Those of an earlier
// part of this process keep their state until they come by: they may be inside a record. `ended` is called with each
// state whose thread ended, so that what other layers keep in it is given back.
void open_threads(bool another_part, void (*ended)(ThreadState& state));
bool life_has_threads(uint64_t life);  // that have not come by since it ended
bool life_has_calls_inside(
    uint64_t life);  // of threads that are inside a hook: in the driver, or recording what it returned
// This thread is inside a record of a part that ended, and another part has begun.
bool is_cut_off();

// A thread is inside a call of a `wanted` function that it entered at `tick` or before.
bool life_has_call_since(uint64_t life, uint64_t tick, bool (*wanted)(uint32_t api));

// The low half of pthread_self() of a recorded thread, also when it ended and nobody took its slot; 0: not known.
uint32_t thread_handle(uint32_t tid);

}  // namespace prof::preload
