// How does the other profiler get its records? This file decides which records of a completed buffer it gets, with
// which times, and in whose memory.
#include "preload/capture/cupti/cupti_client_copy.h"

#include "preload/base/clock.h"
#include "preload/capture/cupti/cupti_client_state.h"
#include "preload/capture/cupti/cupti_front.h"
#include "preload/capture/cupti/cupti_last_error.h"
#include "preload/capture/cupti/cupti_layouts.h"
#include "preload/driver/own_calls.h"
#include "preload/log/count.h"
#include "preload/record/thread.h"
#include "preload/record/thread_local.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <ctime>

namespace prof::preload {

namespace {

// Translates times to the other profiler's clock, by the straight line through two moments. A clock may count other
// units than nanoseconds (the TSC). If the clock is set while the profiler collects, the line bends.
class Translation {
 public:
  explicit Translation(const CuptiClient& client) {
    first_.theirs = client.first_theirs.load(std::memory_order_acquire);
    first_.ours = client.first_ours.load(std::memory_order_relaxed);
    last_ = both_clocks(client);
    if (last_.ours - first_.ours >= kApart) return;
    sleep_ns(kApart);  // two readings of 20 ns each, far enough apart to get the rate to 1 in 10^5
    last_ = both_clocks(client);
  }
  uint64_t operator()(uint64_t ours) const {
    const auto ticks = static_cast<__int128>(static_cast<int64_t>(ours - first_.ours));
    const auto rise = static_cast<__int128>(static_cast<int64_t>(last_.theirs - first_.theirs));
    const auto run = static_cast<__int128>(static_cast<int64_t>(last_.ours - first_.ours));
    return run == 0 ? first_.theirs : first_.theirs + static_cast<uint64_t>(ticks * rise / run);
  }

 private:
  static constexpr uint64_t kApart = 4'000'000;
  ClockPair first_, last_;
};

// Offsets of the times in the records of a kind; 0 ends the list (no record has its kind at another offset).
constexpr uint32_t kMostTimes = 5;
struct Times {
  uint16_t offset[kCuptiKinds][kMostTimes + 1];
};
constexpr Times times_of_kinds() {
  Times times{};
  const auto add = [&](uint32_t kind, size_t offset) {
    uint32_t i = 0;
    while (times.offset[kind][i] != 0) ++i;
    times.offset[kind][i] = static_cast<uint16_t>(offset);
  };
#define CLIENT_TIME(kind, record, field) add(CUPTI_ACTIVITY_KIND_##kind, offsetof(record, field));
#include "preload/capture/cupti/cupti_client_times.def"
#undef CLIENT_TIME
  for (uint32_t i = 0; i <= kMostTimes; ++i) {
    times.offset[CUPTI_ACTIVITY_KIND_KERNEL][i] = times.offset[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL][i];
  }
  // Kinds that are newer than the headers.
  const auto add_newer = [&](uint32_t kind, size_t offset, CuptiField what) {
    if (kind >= CUPTI_ACTIVITY_KIND_COUNT && what == CuptiField::Time) add(kind, offset);
  };
#define CUPTI_FIELD(kind, id, offset, bytes, user_bytes, what) add_newer(kind, offset, CuptiField::what);
#include "preload/capture/cupti/cupti_fields.def"
#undef CUPTI_FIELD
  return times;
}
constexpr Times kTimes = times_of_kinds();

// The offset of the thread id in the records of a kind. 0: they have none.
struct Threads {
  uint16_t offset[kCuptiKinds];
};
constexpr Threads threads_of_kinds() {
  Threads threads{};
  const auto add = [&](uint32_t kind, size_t offset, CuptiField what) {
    if (what == CuptiField::Thread) threads.offset[kind] = static_cast<uint16_t>(offset);
  };
#define CUPTI_FIELD(kind, id, offset, bytes, user_bytes, what) add(kind, offset, CuptiField::what);
#include "preload/capture/cupti/cupti_fields.def"
#undef CUPTI_FIELD
  return threads;
}
constexpr Threads kThreads = threads_of_kinds();

struct KnownThread {
  std::atomic<uint32_t> tid{0};
  std::atomic<uint64_t> handle{0};
};
constexpr uint32_t kKnownThreads = 512;
KnownThread g_known_threads[kKnownThreads];

// pthread_self() of a thread. 0: not known.
uint64_t handle_of(uint32_t tid) {
  if (const uint64_t recorded = thread_handle(tid); recorded != 0) return recorded;
  const KnownThread& known = g_known_threads[tid % kKnownThreads];
  return known.tid.load(std::memory_order_acquire) == tid ? known.handle.load(std::memory_order_relaxed) : 0;
}

bool call_wanted(const CuptiClient& client, uint32_t kind, uint32_t cbid) {
  const uint32_t word = cbid / 64;
  return word < kCallWords && (client.calls(kind)[word].load(std::memory_order_relaxed) >> (cbid % 64) & 1) != 0;
}

uint64_t word_at(const uint8_t* record, size_t offset) {
  uint64_t word;
  std::memcpy(&word, record + offset, sizeof word);
  return word;
}

bool is_ours(const CUpti_Activity& record) {
  const auto& call = reinterpret_cast<const CUpti_ActivityAPI&>(record);
  return record.kind == CUPTI_ACTIVITY_KIND_DRIVER && is_own_call(call.threadId, call.start);
}

// Whether an external id is of a call of ours: records of external ids come before the call that they belong to.
bool is_of_our_call(CUpti_Activity* record, uint8_t* buffer, size_t valid_bytes) {
  const uint32_t correlation = reinterpret_cast<const CUpti_ActivityExternalCorrelation*>(record)->correlationId;
  while (record->kind == CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION) {
    if (g_cupti.api.cuptiActivityGetNextRecord(buffer, valid_bytes, &record) != CUPTI_SUCCESS) return false;
  }
  return is_ours(*record) && reinterpret_cast<const CUpti_ActivityAPI*>(record)->correlationId == correlation;
}

// The kind under which the other profiler gets a record. INVALID: it does not get it.
CUpti_ActivityKind kind_for_client(const CuptiClient& client, const CUpti_Activity& record, size_t size) {
  const uint32_t kind = record.kind;
  if (kind >= kCuptiKinds) return CUPTI_ACTIVITY_KIND_INVALID;
  const uint8_t* const bytes = reinterpret_cast<const uint8_t*>(&record);
  const uint16_t first = kTimes.offset[kind][0];
  // Records without times are in the buffer of the records that they belong to. Only the kind can be checked.
  const auto wanted = [&](uint32_t which) {
    const WantedKind& window = client.kind[which];
    if (first == 0 || first + 8u > size) return window.from.load(std::memory_order_acquire) != kOpenEnd;
    return window.at(word_at(bytes, first));
  };
  if (client.calls(kind) != nullptr &&
      (!call_wanted(client, kind, reinterpret_cast<const CUpti_ActivityAPI&>(record).cbid) || is_ours(record)))
    return CUPTI_ACTIVITY_KIND_INVALID;
  if (wanted(kind)) return record.kind;
  if (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && wanted(CUPTI_ACTIVITY_KIND_KERNEL))
    return CUPTI_ACTIVITY_KIND_KERNEL;
  // A copy between devices is a MEMCPY2 record only if MEMCPY2 is enabled, and the recorder enables it. A profiler with
  // user-defined records has none unless it enabled that kind itself (CUPTI's documentation).
  if (kind == CUPTI_ACTIVITY_KIND_MEMCPY2 && !client.user_defined() && wanted(CUPTI_ACTIVITY_KIND_MEMCPY))
    return record.kind;
  // So does CUPTI with graphs that kernels launch.
  if (kind == CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE && !client.user_defined() &&
      wanted(CUPTI_ACTIVITY_KIND_GRAPH_TRACE))
    return record.kind;
  return CUPTI_ACTIVITY_KIND_INVALID;
}

// The copy of one completed buffer, into as many buffers of the other profiler as it needs.
class Copy {
 public:
  Copy(const CuptiClient& client, CUcontext context, uint32_t stream)
      : client_(client),
        context_(context),
        stream_(stream),
        translation_(client),
        user_defined_(client.user_defined()) {
    for (uint32_t i = 0; user_defined_ && i < kCuptiKinds; ++i) {
      layout_[i] = client.layout[i].load(std::memory_order_acquire);
      places_[i] = layout_[i] != nullptr ? &layout_[i]->places : nullptr;
    }
  }

  void add(const CUpti_Activity& record, size_t size, CUpti_ActivityKind kind) {
    const CuptiLayout* const layout = user_defined_ ? layout_[kind] : nullptr;
    if (user_defined_ && layout == nullptr) return;  // it selected no fields of this kind
    const size_t room = layout != nullptr ? layout->places.record_bytes : size;
    if (size > sizeof whole_ || !room_for(room)) {
      count(format::LossCounter::cupti_client_dropped);
      cupti_client_refuses_buffer();
      return;
    }
    uint8_t* const to = layout != nullptr ? whole_ : buffer_ + used_;
    std::memcpy(to, &record, size);
    std::memcpy(to, &kind, sizeof kind);
    for (const uint16_t* offset = kTimes.offset[kind]; *offset != 0 && *offset + 8u <= size; ++offset) {
      const uint64_t ours = word_at(to, *offset);
      if (ours == 0 || ours == UINT64_MAX) continue;  // CUPTI does not know it
      const uint64_t theirs = translation_(ours);
      std::memcpy(to + *offset, &theirs, sizeof theirs);
    }
    const uint64_t thread = name_thread(to, size, kind);
    if (layout != nullptr) write_user_record(*layout, whole_, size, thread, buffer_ + used_);
    used_ += room;
    ++records_;
  }
  void finish() {
    if (buffer_ == nullptr) return;
    const KeepErrno keep;
    const ProgramCuptiError program;
    if (const auto scoped = client_.completed_v2.load(std::memory_order_acquire); scoped != nullptr) {
      CuptiCompleteInfo info{sizeof info, this_thread_for(client_), nullptr, 0};
      if (user_defined_) {
        info.places = places_;
        info.kinds = g_cupti.version < kMoreKindsSince ? kKindsOfCupti13 : kCuptiKinds;
      }
      scoped(buffer_, size_, used_, &info);
    } else if (const auto global = client_.completed.load(std::memory_order_acquire); global != nullptr) {
      global(context_, stream_, buffer_, size_, used_);
    }
    buffer_ = nullptr;
  }

 private:
  bool room_for(size_t size) {
    if (buffer_ != nullptr && (used_ + size > size_ || (most_ != 0 && records_ >= most_))) finish();
    if (buffer_ == nullptr) {
      used_ = size_ = records_ = most_ = 0;
      if (!take_spare(const_cast<CuptiClient&>(client_), buffer_, size_, most_)) {
        const ProgramCuptiError program;
        request_buffer(client_, buffer_, size_, most_);
      }
    }
    return buffer_ != nullptr && used_ + size <= size_;
  }
  // Writes what the profiler calls the thread of a record and returns it. 0: the record has none, or it is not known.
  uint64_t name_thread(uint8_t* to, size_t size, uint32_t kind) {
    const uint16_t offset = kThreads.offset[kind];
    if (offset == 0 || offset + sizeof(uint32_t) > size || client_.system_thread_ids.load(std::memory_order_relaxed))
      return 0;
    uint32_t tid = 0;
    std::memcpy(&tid, to + offset, sizeof tid);
    if (tid != tid_) {
      tid_ = tid;
      handle_ = handle_of(tid_);
    }
    const uint32_t low = static_cast<uint32_t>(handle_);
    if (handle_ != 0) std::memcpy(to + offset, &low, sizeof low);
    return handle_;
  }

  const CuptiClient& client_;
  CUcontext context_;
  uint32_t stream_;
  Translation translation_;
  bool user_defined_;
  uint8_t* buffer_ = nullptr;
  size_t size_ = 0, used_ = 0, records_ = 0, most_ = 0;
  uint32_t tid_ = 0;
  uint64_t handle_ = 0;
  CuptiLayout* layout_[kCuptiKinds] = {};
  CuptiRecordPlaces* places_[kCuptiKinds] = {};
  alignas(8) uint8_t whole_[1024];
};

// Whether the profiler wants records now or wanted them lately: an operation that began before the end may be reported
// shortly after it.
bool wants_anything(const CuptiClient& client) {
  constexpr uint64_t kLateNs = 60'000'000'000;
  const uint64_t now = gpu_clock_ns();
  for (const WantedKind& kind : client.kind) {
    const uint64_t until = kind.until.load(std::memory_order_relaxed);
    if (until != 0 && (until == kOpenEnd || until + kLateNs > now)) return true;
  }
  return false;
}

// While an object exists, the profiler's functions may be called: it must not be gone (remove_cupti_subscriber()).
class Copying {
 public:
  explicit Copying(CuptiClient& client) : client_(client) {
    client_.copier.store(tid_, std::memory_order_relaxed);
    client_.copying.fetch_add(1, std::memory_order_seq_cst);
  }
  ~Copying() {
    uint32_t this_one = tid_;
    client_.copier.compare_exchange_strong(this_one, 0, std::memory_order_relaxed);
    client_.copying.fetch_sub(1, std::memory_order_release);
  }
  Copying(const Copying&) = delete;
  Copying& operator=(const Copying&) = delete;

 private:
  CuptiClient& client_;
  const uint32_t tid_ = static_cast<uint32_t>(syscall(SYS_gettid));
};

void hand_to(CuptiClient& client, CUcontext context, uint32_t stream, uint8_t* buffer, size_t valid_bytes) {
  const Copying copying(client);
  if (!client.registered()) return;
  // A subscriber has all its buffers after a flush (CUPTI 13.5).
  const bool keeps_one = !client.scoped() && client.keeps_spare.load(std::memory_order_acquire);
  Copy copy(client, context, stream);
  // A record does not contain its size: it ends where the next one starts.
  CUpti_Activity* record = nullptr;
  const auto next = [&] {
    return g_cupti.api.cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == CUPTI_SUCCESS ? record : nullptr;
  };
  for (CUpti_Activity* one = next(); one != nullptr;) {
    CUpti_Activity* const following = next();
    const uint8_t* const end =
        following != nullptr ? reinterpret_cast<const uint8_t*>(following) : buffer + valid_bytes;
    const size_t size = static_cast<size_t>(end - reinterpret_cast<const uint8_t*>(one));
    const CUpti_ActivityKind kind = kind_for_client(client, *one, size);
    const bool ours = kind == CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION && is_of_our_call(one, buffer, valid_bytes);
    if (kind != CUPTI_ACTIVITY_KIND_INVALID && !ours) copy.add(*one, size, kind);
    one = following;
  }
  // Before the last one is returned: a profiler that has stopped may flush only if it gave one away.
  if (keeps_one) ask_for_spare(client);
  copy.finish();
}

}  // namespace

void note_cupti_thread() {
  const auto tid = static_cast<uint32_t>(syscall(SYS_gettid));
  KnownThread& known = g_known_threads[tid % kKnownThreads];
  known.tid.store(0, std::memory_order_relaxed);
  known.handle.store(static_cast<uint64_t>(pthread_self()), std::memory_order_relaxed);
  known.tid.store(tid, std::memory_order_release);
}

void request_spares_from_subscribers() {
  g_buffers_in_use.store(true, std::memory_order_release);
  for (CuptiClient& client : g_cupti_clients) {
    if (!client.scoped() || !client.gets_records()) continue;
    const Copying copying(client);
    ask_for_spare(client);
  }
}

void hand_to_cupti_clients(CUcontext context, uint32_t stream, uint8_t* buffer, size_t valid_bytes) {
  for (CuptiClient& client : g_cupti_clients) {
    if (client.registered() && wants_anything(client)) hand_to(client, context, stream, buffer, valid_bytes);
  }
}

}  // namespace prof::preload
