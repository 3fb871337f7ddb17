// Which streams of the program exist, and which contexts do they belong to? The files of streams/ use it. The tables
// are fixed, lookups take no lock, and slots are reused.
//
//   index    open addressing, 64-bit key of (handle | context | context and thread) -> slot; written under a short gate
//   slots    StreamState, dense, so that "all streams of a context" is a short walk
//
// A slot's launch numbers never restart: a new stream in an old slot continues the count of the old one, all of it
// taken as completed. So a late completion mark, event or report of the old stream can only repeat what is known
// already.
#pragma once

#include "preload/format/ids.h"
#include "preload/record/intern.h"

#include <cuda.h>

#include <atomic>
#include <cstdint>

namespace prof::preload {

inline constexpr uint32_t kMaxStreams = 1u << 16;
inline constexpr uint32_t kMaxContexts = 256;

struct MarkRing;     // mark_events.cpp
struct ThreadState;  // record/thread.h
enum class MarkWay : uint8_t { Undecided, Value, Event, Off };

struct ContextState {
  std::atomic<CUcontext> handle{nullptr};  // null: free, or destroyed
  format::ContextId id{};
  uint32_t device = 0;
  uint32_t gpu_context = 0;
  std::atomic<bool> failed{false};  // a kernel ended it (device assertion, illegal address …): nothing in it finishes
  std::atomic<MarkWay> mark_way{MarkWay::Undecided};
  uint32_t* mark_words = nullptr;  // kMaxStreams words that the GPU writes; never unmapped
  CUdeviceptr mark_address = 0;    // the address of the words for the GPU
};

// Counts the operations launched on a stream. The thread that first used the stream (mostly the only one) adds with one
// plain instruction, all others with an atomic one. This saves 6 ns a launch, because a locked instruction waits for
// all stores before it. It is one instruction, so that a signal handler that launches in between loses nothing.
class LaunchCount {
 public:
  uint64_t load() const { return own_.load(std::memory_order_acquire) + others_.load(std::memory_order_acquire); }
  void add(uint64_t operations, const ThreadState* thread) {
    if (thread == owner_.load(std::memory_order_relaxed) && thread != nullptr) [[likely]] {
      add_as_owner(operations);
    } else {
      others_.fetch_add(operations, std::memory_order_release);
    }
  }
  void set_owner(const ThreadState* thread) { owner_.store(thread, std::memory_order_relaxed); }

 private:
  void add_as_owner(uint64_t operations) {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
    asm volatile("addq %1, %0" : "+m"(own_) : "er"(operations) : "memory", "cc");  // x86 stores are releases
#else
    own_.fetch_add(operations, std::memory_order_release);
#endif
  }
  std::atomic<uint64_t> own_{0};
  std::atomic<uint64_t> others_{0};
  std::atomic<const ThreadState*> owner_{nullptr};
};

// A place in the order of a stream: after so many operations and so many waits for events.
struct StreamPoint {
  uint64_t launched = 0, waits = 0;
  bool operator==(const StreamPoint&) const = default;
};

// The place after which an event was recorded, on the stream of a slot.
struct EventPoint {
  uint32_t slot = 0;
  StreamPoint upto;
  bool operator==(const EventPoint&) const = default;
  bool known() const { return upto != StreamPoint{}; }
};

// The waits of one stream for events of others, the oldest first (event_waits.h).
struct StreamWaits {
  struct Wait {
    StreamPoint at;  // in this stream; at.waits is the number of the wait, from 1
    EventPoint awaited;
  };
  static constexpr uint32_t kMost = 8;
  std::atomic<uint64_t> forgotten{0};  // waits up to this number were made by an earlier stream of the slot
  std::atomic<uint32_t> busy{0};       // a thread changes `wait`
  std::atomic<uint32_t> count{0};
  Wait wait[kMost];
};

struct alignas(64) StreamState {
  // The launch path's cache line
  LaunchCount launched;                // operations, ever
  std::atomic<uint64_t> completed{0};  // launch number up to which all is known to have finished
  std::atomic<uint64_t> reported{0};   // operations that CUPTI reported, never above launched
  std::atomic<uint64_t> last_launch_tick{0};
  std::atomic<const uint32_t*> mark_word{nullptr};  // written by the GPU: low half of a launch number
  std::atomic<uint64_t> marked{0};                  // launch number of the last completion mark
  std::atomic<uint64_t> mark_tick{0};               // when that mark was placed
  std::atomic<uint64_t> query_tick{0};              // when an event of the program was last queried
  std::atomic<uint64_t> waits{0};                   // kept waits, ever; never restarts, as launch numbers
  std::atomic<bool> marks_off{false};
  std::atomic<bool> programmatic{false};  // saw a programmatic dependent launch: never a mark here
  // Set before the slot is visible, constant while it is in use
  std::atomic<bool> live{false};
  bool per_thread = false;
  bool left_out = false;  // on a device that PROF_DEVICES leaves out
  uint32_t thread = 0;    // ThreadOrdinal, of a per-thread default stream
  format::StreamId id{};
  uint64_t key = 0;
  uint64_t gpu_key = 0;                         // 0: CUPTI's ids are not known
  std::atomic<CUstream> handle{nullptr};        // the handle for our own driver calls
  std::atomic<ContextState*> context{nullptr};  // read by walks over all slots, also while one is used again
  std::atomic<MarkRing*> mark_ring{nullptr};    // MarkWay::Event
};

bool open_stream_table(uint64_t ended);

// Keys 0 and 1 have a meaning in the index. A hash with one of these values is changed.
inline uint64_t stream_key(uint64_t a, uint64_t b) {
  const uint64_t key = Hash::fold(a ^ 0xa0761d6478bd642f, b ^ 0xe7037ed1a0b428db);
  return key < 2 ? key + 2 : key;
}
inline uint64_t gpu_stream_key(uint32_t gpu_context, uint32_t gpu_stream) {
  return stream_key(gpu_context, gpu_stream);
}

// Null: not in the table.
StreamState* find_stream(uint64_t key);
StreamState* find_gpu_stream(uint64_t gpu_key);

// The values from which a new stream's state is made.
struct StreamFacts {
  uint64_t key = 0, gpu_key = 0;
  format::StreamId id{};
  CUstream handle = nullptr;
  ContextState* context = nullptr;
  bool per_thread = false;
  uint32_t thread = 0;
};
// Adds a stream, or returns the one that another thread added meanwhile. Null: the table is full, or the gate stayed
// closed (counted).
StreamState* add_stream(const StreamFacts& facts);
// Reuses the slot for another stream with the same key (a new thread's per-thread default stream).
void renew_stream(StreamState& state, const StreamFacts& facts);
void remove_stream(StreamState& state);

template <class Visit> void for_each_stream(Visit&& visit);

ContextState* find_context(CUcontext handle);
// Adds a context; storing its handle makes it visible. Null: the table is full, which is counted.
ContextState* add_context(CUcontext handle, format::ContextId id, uint32_t device, uint32_t gpu_context);

namespace detail {
struct IndexSlot {
  std::atomic<uint64_t> key;
  std::atomic<uint32_t> slot;
};
// Mapped as a whole; zero pages are an empty table.
struct StreamTable {
  static constexpr uint32_t kIndex = kMaxStreams * 2;
  IndexSlot index[kIndex];
  IndexSlot gpu_index[kIndex];
  StreamState states[kMaxStreams];
  StreamWaits waits[kMaxStreams];
  std::atomic<uint32_t> high_water;
  uint32_t first_free;         // no slot before it is free; the gate guards it
  std::atomic<uint32_t> gate;  // futex word: 0 while no thread adds or removes
  std::atomic<uint64_t>
      unreported_of_destroyed_streams;  // operations of streams that ended before CUPTI had reported them
  ContextState contexts[kMaxContexts];
  std::atomic<uint32_t> context_count;
};
extern StreamTable* g_streams;
}  // namespace detail

template <class Visit> void for_each_stream(Visit&& visit) {
  if (detail::g_streams == nullptr) return;
  const uint32_t end = detail::g_streams->high_water.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < end; ++i) {
    StreamState& state = detail::g_streams->states[i];
    if (state.live.load(std::memory_order_acquire)) visit(state);
  }
}

inline uint32_t slot_of(const StreamState& state) { return static_cast<uint32_t>(&state - detail::g_streams->states); }

}  // namespace prof::preload
