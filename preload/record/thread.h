// Which threads are recorded, and what is their state? A thread has a state from its first record to its end. Hooks and
// subsystems use it. This code runs in the program and must not allocate from the heap.
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

// A launch shape of this thread and its ConfigId. All words are compared, so no hash of a shape must be trusted.
struct alignas(64) KnownShape {
  uint64_t words[6];
  uint64_t id;  // format::ConfigId; 0: none
};
inline constexpr uint32_t kKnownShapes = 64;

// One recorded thread. Slots are in memory of the recorder and are reused after the thread ended.
struct alignas(64) ThreadState {
  // The stream of its last launch on a created stream. It is in one cache line with what a record touches.
  StreamState* last_stream = nullptr;
  KnownShape* shapes = nullptr;  // kKnownShapes of them; zeros at first, and never freed
  BlockWriter events;
  BlockWriter definitions;
  uint32_t ordinal = 0;  // format::ThreadOrdinal
  uint32_t tid = 0;
  uint64_t handle = 0;  // pthread_self(): CUPTI's thread id is its low half, unless a client selects another one
  OwnStack own_stack;
  StackMemo* memo = nullptr;  // stacks that the thread had before
  KeptFills fills;            // fills that a repeated launch repeats too
  uint32_t learning = 0;      // reads unwind tables: a signal handler must not read them now
  std::atomic<uint32_t> in_use{0};
  std::atomic<uint64_t> life{0};            // the epoch of the recording that opened it
  std::atomic<bool> always_sampled{false};  // for host samples, a thread that makes no call of the driver counts too
  bool keeps_shape = false;                 // `shapes` are being changed: a signal handler must not change them now
};

// Gives this thread a state of the current recording and records its ThreadDef. Returns false if it cannot (counted).
// Keeps errno.
bool open_thread();
// This thread's call passes through, because another thread is starting the recorder. Keeps errno.
void count_before_ready();
// Called once per recording, before the first open_thread(). In a forked child it resets the states of the parent's
// threads. Threads of an earlier recording of this process keep their state until they call a hook again, because they
// may be inside a record. `ended` is called with the state of each thread that ends, so that other layers release what
// they keep in it.
void open_threads(bool another_recording, void (*ended)(ThreadState& state));
// Whether the recording with this epoch has threads that called no hook since it ended.
bool recording_has_threads(uint64_t life);
// Whether it has threads that are inside a hook: in the driver, or recording what the driver returned.
bool recording_has_calls_inside(uint64_t life);
// Whether this thread is inside a record of a recording that ended, and another recording has started.
bool is_cut_off();

// Whether a thread is inside a call of a `wanted` function that it entered at `tick` or earlier.
bool recording_has_call_since(uint64_t life, uint64_t tick, bool (*wanted)(uint32_t api));

// The calling thread, which records, counts as one that has made a call of the driver.
void sample_this_thread();

// A thread that has made a recorded call of the driver, which NVTX alone is not.
struct CallingThread {
  uint32_t ordinal, tid;
  uint64_t handle;      // pthread_self()
  bool always_sampled;  // by sample_this_thread()
};
// Writes up to `most` such threads of the recording, and returns their number, which may be higher.
uint32_t calling_threads(uint64_t life, CallingThread* to, uint32_t most);

// A number for a thread that records nothing itself. The caller defines it.
uint32_t take_thread_ordinal();

// Returns pthread_self() of a recorded thread, also after it ended, until another thread takes its slot. Returns 0 if
// it is not known.
uint64_t thread_handle(uint32_t tid);

}  // namespace prof::preload
