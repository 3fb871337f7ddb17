#include "preload/capture/cupti_client.h"

#include "preload/capture/clock.h"
#include "preload/capture/cupti_front.h"
#include "preload/capture/cupti_layouts.h"
#include "preload/runtime/recorder.h"
#include "preload/runtime/thread.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>

namespace prof::preload {
namespace {

constexpr uint32_t kKindCount = CUPTI_ACTIVITY_KIND_COUNT;
constexpr uint32_t kCallWords = 32;  // callback ids below 2,048
constexpr uint64_t kOpenEnd = UINT64_MAX;

// When a kind was wanted, in our GPU clock. CUPTI delivers late: what began inside still belongs to the other profiler.
struct Wanted {
  std::atomic<uint64_t> from{kOpenEnd};
  std::atomic<uint64_t> until{0};
  bool now() const { return until.load(std::memory_order_acquire) == kOpenEnd; }
  bool at(uint64_t ns) const {
    return ns >= from.load(std::memory_order_acquire) && ns < until.load(std::memory_order_acquire);
  }
};

struct Client {
  std::atomic<CUpti_BuffersCallbackRequestFunc> requested{nullptr};
  std::atomic<CUpti_BuffersCallbackCompleteFunc> completed{nullptr};
  std::atomic<TimestampFunction> clock{nullptr};
  std::atomic<uint64_t> first_ours{0}, first_theirs{0};  // the two clocks at one moment, when it began to collect
  std::atomic<bool> system_thread_ids{false};
  std::atomic<bool> told{false};
  Wanted kind[kKindCount];
  std::atomic<uint64_t> driver_calls[kCallWords], runtime_calls[kCallWords];
  std::atomic<uint64_t>* calls(uint32_t which) {
    return which == CUPTI_ACTIVITY_KIND_DRIVER    ? driver_calls
           : which == CUPTI_ACTIVITY_KIND_RUNTIME ? runtime_calls
                                                  : nullptr;
  }
};

// A buffer of the other profiler that holds nothing yet.
struct Spare {
  enum State : uint32_t { None, Held, Moving };
  std::atomic<uint32_t> state{None};
  uint8_t* buffer = nullptr;
  size_t size = 0, most = 0;
};
Spare g_spare;
Client g_client;

struct Moment {
  uint64_t ours, theirs;
};

// Both clocks at one moment: of a few tries the one with the tightest bracket.
Moment both_clocks() {
  Moment best{};
  uint64_t narrowest = UINT64_MAX;
  for (int i = 0; i < 5; ++i) {
    const uint64_t before = gpu_clock_ns();
    const uint64_t theirs = cupti_client_now();
    const uint64_t after = gpu_clock_ns();
    if (after - before >= narrowest) continue;
    narrowest = after - before;
    best = {before + (after - before) / 2, theirs};
  }
  return best;
}

void anchor_clocks() {
  const Moment moment = both_clocks();
  g_client.first_ours.store(moment.ours, std::memory_order_relaxed);
  g_client.first_theirs.store(moment.theirs, std::memory_order_release);
}

// Times of the other profiler's clock, by the straight line through two moments. Clocks that count other things than
// nanoseconds (the TSC) are fine; one that is set while it collects bends the line.
class Translation {
 public:
  Translation() {
    first_.theirs = g_client.first_theirs.load(std::memory_order_acquire);
    first_.ours = g_client.first_ours.load(std::memory_order_relaxed);
    last_ = both_clocks();
    if (last_.ours - first_.ours >= kApart) return;
    const timespec pause{0, static_cast<long>(kApart)};
    nanosleep(&pause, nullptr);  // two readings of 20 ns each, apart enough to tell the rate to 1 in 10^5
    last_ = both_clocks();
  }
  uint64_t operator()(uint64_t ours) const {
    const auto ticks = static_cast<__int128>(static_cast<int64_t>(ours - first_.ours));
    const auto rise = static_cast<__int128>(static_cast<int64_t>(last_.theirs - first_.theirs));
    const auto run = static_cast<__int128>(static_cast<int64_t>(last_.ours - first_.ours));
    return run == 0 ? first_.theirs : first_.theirs + static_cast<uint64_t>(ticks * rise / run);
  }

 private:
  static constexpr uint64_t kApart = 4'000'000;
  Moment first_, last_;
};

// Where the times of a kind's records are; 0 ends the list (no record has its kind at another place).
constexpr uint32_t kMostTimes = 5;
struct Times {
  uint16_t offset[kKindCount][kMostTimes + 1];
};
constexpr Times times_of_kinds() {
  Times times{};
  const auto add = [&](uint32_t kind, size_t offset) {
    uint32_t i = 0;
    while (times.offset[kind][i] != 0) ++i;
    times.offset[kind][i] = static_cast<uint16_t>(offset);
  };
#define CLIENT_TIME(kind, record, field) add(CUPTI_ACTIVITY_KIND_##kind, offsetof(record, field));
#include "preload/capture/cupti_client_times.def"
#undef CLIENT_TIME
  for (uint32_t i = 0; i <= kMostTimes; ++i) {
    times.offset[CUPTI_ACTIVITY_KIND_KERNEL][i] = times.offset[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL][i];
  }
  return times;
}
constexpr Times kTimes = times_of_kinds();

bool call_wanted(uint32_t kind, uint32_t cbid) {
  const uint32_t word = cbid / 64;
  return word < kCallWords && (g_client.calls(kind)[word].load(std::memory_order_relaxed) >> (cbid % 64) & 1) != 0;
}

void set_calls(CUpti_ActivityKind kind, uint64_t bits) {
  std::atomic<uint64_t>* const words = g_client.calls(kind);
  for (uint32_t i = 0; words != nullptr && i < kCallWords; ++i) words[i].store(bits, std::memory_order_relaxed);
}

bool take_spare(uint8_t*& buffer, size_t& size, size_t& most) {
  uint32_t held = Spare::Held;
  if (!g_spare.state.compare_exchange_strong(held, Spare::Moving, std::memory_order_acquire)) return false;
  buffer = g_spare.buffer, size = g_spare.size, most = g_spare.most;
  g_spare.state.store(Spare::None, std::memory_order_release);
  return true;
}

void ask_for_spare() {
  const CUpti_BuffersCallbackRequestFunc requested = g_client.requested.load(std::memory_order_acquire);
  uint32_t none = Spare::None;
  if (requested == nullptr || !g_spare.state.compare_exchange_strong(none, Spare::Moving, std::memory_order_acquire))
    return;
  g_spare.buffer = nullptr;
  g_spare.size = g_spare.most = 0;
  requested(&g_spare.buffer, &g_spare.size, &g_spare.most);
  g_spare.state.store(g_spare.buffer != nullptr ? Spare::Held : Spare::None, std::memory_order_release);
}

uint64_t word_at(const uint8_t* record, size_t offset) {
  uint64_t word;
  std::memcpy(&word, record + offset, sizeof word);
  return word;
}

// The kind under which the other profiler gets a record; INVALID: not at all.
CUpti_ActivityKind kind_for_client(const CUpti_Activity& record, size_t size) {
  const uint32_t kind = record.kind;
  if (kind >= kKindCount) return CUPTI_ACTIVITY_KIND_INVALID;
  const uint8_t* const bytes = reinterpret_cast<const uint8_t*>(&record);
  const uint16_t first = kTimes.offset[kind][0];
  // Records without times come in the buffer of what they belong to; only whether the kind is wanted can be asked.
  const auto wanted = [&](uint32_t which) {
    const Wanted& window = g_client.kind[which];
    if (first == 0 || first + 8u > size) return window.from.load(std::memory_order_acquire) != kOpenEnd;
    return window.at(word_at(bytes, first));
  };
  if (g_client.calls(kind) != nullptr && !call_wanted(kind, reinterpret_cast<const CUpti_ActivityAPI&>(record).cbid))
    return CUPTI_ACTIVITY_KIND_INVALID;
  if (wanted(kind)) return record.kind;
  if (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && wanted(CUPTI_ACTIVITY_KIND_KERNEL))
    return CUPTI_ACTIVITY_KIND_KERNEL;
  // A copy between devices is MEMCPY2 for whoever has that on, and we have.
  if (kind == CUPTI_ACTIVITY_KIND_MEMCPY2 && wanted(CUPTI_ACTIVITY_KIND_MEMCPY)) return record.kind;
  return CUPTI_ACTIVITY_KIND_INVALID;
}

// The copy of one completed buffer, into as many of the other profiler's as it takes.
class Copy {
 public:
  Copy(CUcontext context, uint32_t stream) : context_(context), stream_(stream) {}

  void add(const CUpti_Activity& record, size_t size, CUpti_ActivityKind kind) {
    if (!room_for(size)) {
      count(format::Counter::cupti_client_dropped);
      return;
    }
    uint8_t* const to = buffer_ + used_;
    std::memcpy(to, &record, size);
    std::memcpy(to, &kind, sizeof kind);
    for (const uint16_t* offset = kTimes.offset[kind]; *offset != 0 && *offset + 8u <= size; ++offset) {
      const uint64_t ours = word_at(to, *offset);
      if (ours == 0 || ours == UINT64_MAX) continue;  // CUPTI does not know it
      const uint64_t theirs = translation_(ours);
      std::memcpy(to + *offset, &theirs, sizeof theirs);
    }
    if (kind == CUPTI_ACTIVITY_KIND_DRIVER || kind == CUPTI_ACTIVITY_KIND_RUNTIME) name_thread(to);
    used_ += size;
    ++records_;
  }
  void finish() {
    if (buffer_ == nullptr) return;
    completed_(context_, stream_, buffer_, size_, used_);
    buffer_ = nullptr;
  }

 private:
  bool room_for(size_t size) {
    if (buffer_ != nullptr && (used_ + size > size_ || (most_ != 0 && records_ >= most_))) finish();
    if (buffer_ == nullptr) {
      used_ = size_ = records_ = most_ = 0;
      if (!take_spare(buffer_, size_, most_)) requested_(&buffer_, &size_, &most_);
    }
    return buffer_ != nullptr && used_ + size <= size_;
  }
  void name_thread(uint8_t* to) {
    if (g_client.system_thread_ids.load(std::memory_order_relaxed)) return;
    auto& call = *reinterpret_cast<CUpti_ActivityAPI*>(to);
    if (call.threadId != tid_) {
      tid_ = call.threadId;
      handle_ = thread_handle(tid_);
    }
    if (handle_ != 0) call.threadId = handle_;
  }

  CUcontext context_;
  uint32_t stream_;
  CUpti_BuffersCallbackRequestFunc requested_ = g_client.requested.load(std::memory_order_acquire);
  CUpti_BuffersCallbackCompleteFunc completed_ = g_client.completed.load(std::memory_order_acquire);
  Translation translation_;
  uint8_t* buffer_ = nullptr;
  size_t size_ = 0, used_ = 0, records_ = 0, most_ = 0;
  uint32_t tid_ = 0, handle_ = 0;
};

// Or wanted lately: what began before the end may come a little after it.
bool wants_anything() {
  constexpr uint64_t kLateNs = 60'000'000'000;
  const uint64_t now = gpu_clock_ns();
  for (const Wanted& kind : g_client.kind) {
    const uint64_t until = kind.until.load(std::memory_order_relaxed);
    if (until != 0 && (until == kOpenEnd || until + kLateNs > now)) return true;
  }
  return false;
}

void tell() {
  if (g_client.told.exchange(true)) return;
  count(format::Counter::cupti_shared);
  const EventScope scope;
  if (scope.recording())
    define_meta("cupti_shared", "another profiler in the program gets its records through libprof");
}

}  // namespace

void set_cupti_client(CUpti_BuffersCallbackRequestFunc requested, CUpti_BuffersCallbackCompleteFunc completed) {
  if (g_client.requested.load(std::memory_order_relaxed) != requested) return_spare_to_cupti_client();
  g_client.requested.store(requested, std::memory_order_release);
  g_client.completed.store(completed, std::memory_order_release);
  tell();
}

void set_cupti_client_clock(TimestampFunction clock) {
  g_client.clock.store(clock, std::memory_order_release);
  anchor_clocks();
}

uint64_t cupti_client_now() {
  if (const TimestampFunction clock = g_client.clock.load(std::memory_order_acquire); clock != nullptr) return clock();
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

void set_cupti_client_system_thread_ids(bool system) {
  g_client.system_thread_ids.store(system, std::memory_order_relaxed);
}
bool cupti_client_has_system_thread_ids() { return g_client.system_thread_ids.load(std::memory_order_relaxed); }

void enable_for_cupti_client(CUpti_ActivityKind kind) {
  if (static_cast<uint32_t>(kind) >= kKindCount) return;
  if (!cupti_client_active()) anchor_clocks();
  set_calls(kind, UINT64_MAX);
  Wanted& wanted = g_client.kind[kind];
  if (wanted.now()) return;
  wanted.until.store(0, std::memory_order_release);
  wanted.from.store(gpu_clock_ns(), std::memory_order_release);
  wanted.until.store(kOpenEnd, std::memory_order_release);
  ask_for_spare();
}

void disable_for_cupti_client(CUpti_ActivityKind kind) {
  if (static_cast<uint32_t>(kind) >= kKindCount) return;
  uint64_t open = kOpenEnd;
  g_client.kind[kind].until.compare_exchange_strong(open, gpu_clock_ns(), std::memory_order_acq_rel);
}

void enable_call_for_cupti_client(CUpti_ActivityKind kind, uint32_t cbid, bool on) {
  if (cbid / 64 >= kCallWords || g_client.calls(kind) == nullptr) return;
  if (on && !g_client.kind[kind].now()) {
    enable_for_cupti_client(kind);
    set_calls(kind, 0);
  }
  std::atomic<uint64_t>& word = g_client.calls(kind)[cbid / 64];
  const uint64_t bit = uint64_t{1} << (cbid % 64);
  on ? word.fetch_or(bit, std::memory_order_relaxed) : word.fetch_and(~bit, std::memory_order_relaxed);
}

bool cupti_client_known() { return g_client.requested.load(std::memory_order_acquire) != nullptr; }

void return_spare_to_cupti_client() {
  uint8_t* buffer = nullptr;
  size_t size = 0, most = 0;
  const CUpti_BuffersCallbackCompleteFunc completed = g_client.completed.load(std::memory_order_acquire);
  if (completed == nullptr || cupti_client_active() || !take_spare(buffer, size, most)) return;
  completed(nullptr, 0, buffer, size, 0);
}

bool cupti_client_uses(CUpti_ActivityKind kind) {
  return static_cast<uint32_t>(kind) < kKindCount && g_client.kind[kind].now();
}

bool cupti_client_active() {
  for (const Wanted& kind : g_client.kind) {
    if (kind.now()) return true;
  }
  return false;
}

void hand_to_cupti_client(CUcontext context, uint32_t stream, uint8_t* buffer, size_t valid_bytes) {
  if (g_client.requested.load(std::memory_order_acquire) == nullptr ||
      g_client.completed.load(std::memory_order_acquire) == nullptr || !wants_anything()) {
    return;
  }
  Copy copy(context, stream);
  // A record says nothing of its size: it ends where the next one begins.
  CUpti_Activity* record = nullptr;
  const auto next = [&] {
    return g_cupti.api.cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == CUPTI_SUCCESS ? record : nullptr;
  };
  for (const CUpti_Activity* one = next(); one != nullptr;) {
    const CUpti_Activity* const behind = next();
    const uint8_t* const end = behind != nullptr ? reinterpret_cast<const uint8_t*>(behind) : buffer + valid_bytes;
    const size_t size = static_cast<size_t>(end - reinterpret_cast<const uint8_t*>(one));
    if (const CUpti_ActivityKind kind = kind_for_client(*one, size); kind != CUPTI_ACTIVITY_KIND_INVALID)
      copy.add(*one, size, kind);
    one = behind;
  }
  copy.finish();
  if (cupti_client_active()) ask_for_spare();
}

void forget_cupti_client() {
  g_spare.state.store(Spare::None, std::memory_order_relaxed);
  g_client.requested.store(nullptr, std::memory_order_release);
  g_client.completed.store(nullptr, std::memory_order_release);
  g_client.clock.store(nullptr, std::memory_order_release);
  g_client.system_thread_ids.store(false, std::memory_order_relaxed);
  for (Wanted& kind : g_client.kind) {
    kind.until.store(0, std::memory_order_release);
    kind.from.store(kOpenEnd, std::memory_order_release);
  }
}

}  // namespace prof::preload
