// How does the other profiler get its records? This file decides which records of a completed buffer it gets, with
// which times, and in whose memory.
#include "preload/capture/cupti/cupti_client_copy.h"

#include "preload/base/clock.h"
#include "preload/capture/cupti/cupti_client_state.h"
#include "preload/capture/cupti/cupti_front.h"
#include "preload/capture/cupti/cupti_last_error.h"
#include "preload/capture/cupti/cupti_layouts.h"
#include "preload/log/count.h"
#include "preload/record/thread.h"

#include <cstring>
#include <ctime>

namespace prof::preload {

namespace {

// Translates times to the other profiler's clock, by the straight line through two moments. A clock may count other
// units than nanoseconds (the TSC). If the clock is set while the profiler collects, the line bends.
class Translation {
 public:
  Translation() {
    first_.theirs = g_cupti_client.first_theirs.load(std::memory_order_acquire);
    first_.ours = g_cupti_client.first_ours.load(std::memory_order_relaxed);
    last_ = both_clocks();
    if (last_.ours - first_.ours >= kApart) return;
    const timespec pause{0, static_cast<long>(kApart)};
    nanosleep(&pause, nullptr);  // two readings of 20 ns each, far enough apart to get the rate to 1 in 10^5
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
  return times;
}
constexpr Times kTimes = times_of_kinds();

bool call_wanted(uint32_t kind, uint32_t cbid) {
  const uint32_t word = cbid / 64;
  return word < kCallWords &&
         (g_cupti_client.calls(kind)[word].load(std::memory_order_relaxed) >> (cbid % 64) & 1) != 0;
}

uint64_t word_at(const uint8_t* record, size_t offset) {
  uint64_t word;
  std::memcpy(&word, record + offset, sizeof word);
  return word;
}

// The kind under which the other profiler gets a record. INVALID: it does not get it.
CUpti_ActivityKind kind_for_client(const CUpti_Activity& record, size_t size) {
  const uint32_t kind = record.kind;
  if (kind >= kCuptiKinds) return CUPTI_ACTIVITY_KIND_INVALID;
  const uint8_t* const bytes = reinterpret_cast<const uint8_t*>(&record);
  const uint16_t first = kTimes.offset[kind][0];
  // Records without times are in the buffer of the records that they belong to. Only the kind can be checked.
  const auto wanted = [&](uint32_t which) {
    const WantedKind& window = g_cupti_client.kind[which];
    if (first == 0 || first + 8u > size) return window.from.load(std::memory_order_acquire) != kOpenEnd;
    return window.at(word_at(bytes, first));
  };
  if (g_cupti_client.calls(kind) != nullptr &&
      !call_wanted(kind, reinterpret_cast<const CUpti_ActivityAPI&>(record).cbid))
    return CUPTI_ACTIVITY_KIND_INVALID;
  if (wanted(kind)) return record.kind;
  if (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && wanted(CUPTI_ACTIVITY_KIND_KERNEL))
    return CUPTI_ACTIVITY_KIND_KERNEL;
  // A copy between devices is a MEMCPY2 record only if MEMCPY2 is enabled, and the recorder enables it.
  if (kind == CUPTI_ACTIVITY_KIND_MEMCPY2 && wanted(CUPTI_ACTIVITY_KIND_MEMCPY)) return record.kind;
  return CUPTI_ACTIVITY_KIND_INVALID;
}

// The copy of one completed buffer, into as many buffers of the other profiler as it needs.
class Copy {
 public:
  Copy(CUcontext context, uint32_t stream) : context_(context), stream_(stream) {}

  void add(const CUpti_Activity& record, size_t size, CUpti_ActivityKind kind) {
    if (!room_for(size)) {
      count(format::LossCounter::cupti_client_dropped);
      cupti_client_refuses_buffer();
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
    const ProgramCuptiError program;
    completed_(context_, stream_, buffer_, size_, used_);
    buffer_ = nullptr;
  }

 private:
  bool room_for(size_t size) {
    if (buffer_ != nullptr && (used_ + size > size_ || (most_ != 0 && records_ >= most_))) finish();
    if (buffer_ == nullptr) {
      used_ = size_ = records_ = most_ = 0;
      if (!take_spare(buffer_, size_, most_)) {
        const ProgramCuptiError program;
        requested_(&buffer_, &size_, &most_);
      }
    }
    return buffer_ != nullptr && used_ + size <= size_;
  }
  void name_thread(uint8_t* to) {
    if (g_cupti_client.system_thread_ids.load(std::memory_order_relaxed)) return;
    auto& call = *reinterpret_cast<CUpti_ActivityAPI*>(to);
    if (call.threadId != tid_) {
      tid_ = call.threadId;
      handle_ = thread_handle(tid_);
    }
    if (handle_ != 0) call.threadId = handle_;
  }

  CUcontext context_;
  uint32_t stream_;
  CUpti_BuffersCallbackRequestFunc requested_ = g_cupti_client.requested.load(std::memory_order_acquire);
  CUpti_BuffersCallbackCompleteFunc completed_ = g_cupti_client.completed.load(std::memory_order_acquire);
  Translation translation_;
  uint8_t* buffer_ = nullptr;
  size_t size_ = 0, used_ = 0, records_ = 0, most_ = 0;
  uint32_t tid_ = 0, handle_ = 0;
};

// Whether the profiler wants records now or wanted them lately: an operation that began before the end may be reported
// shortly after it.
bool wants_anything() {
  constexpr uint64_t kLateNs = 60'000'000'000;
  const uint64_t now = gpu_clock_ns();
  for (const WantedKind& kind : g_cupti_client.kind) {
    const uint64_t until = kind.until.load(std::memory_order_relaxed);
    if (until != 0 && (until == kOpenEnd || until + kLateNs > now)) return true;
  }
  return false;
}

}  // namespace

void hand_to_cupti_client(CUcontext context, uint32_t stream, uint8_t* buffer, size_t valid_bytes) {
  if (g_cupti_client.requested.load(std::memory_order_acquire) == nullptr ||
      g_cupti_client.completed.load(std::memory_order_acquire) == nullptr || !wants_anything()) {
    return;
  }
  Copy copy(context, stream);
  // A record does not contain its size: it ends where the next one starts.
  CUpti_Activity* record = nullptr;
  const auto next = [&] {
    return g_cupti.api.cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == CUPTI_SUCCESS ? record : nullptr;
  };
  for (const CUpti_Activity* one = next(); one != nullptr;) {
    const CUpti_Activity* const following = next();
    const uint8_t* const end =
        following != nullptr ? reinterpret_cast<const uint8_t*>(following) : buffer + valid_bytes;
    const size_t size = static_cast<size_t>(end - reinterpret_cast<const uint8_t*>(one));
    if (const CUpti_ActivityKind kind = kind_for_client(*one, size); kind != CUPTI_ACTIVITY_KIND_INVALID)
      copy.add(*one, size, kind);
    one = following;
  }
  copy.finish();
  if (cupti_client_active()) ask_for_spare();
}

}  // namespace prof::preload
