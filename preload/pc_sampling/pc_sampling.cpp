#include "preload/pc_sampling/pc_sampling.h"

#include "preload/base/clock.h"
#include "preload/base/decimal.h"
#include "preload/base/exit_handler.h"
#include "preload/base/helper_wake.h"
#include "preload/base/joined_text.h"
#include "preload/base/messages.h"
#include "preload/base/options.h"
#include "preload/capture/cupti/bounded_flush.h"
#include "preload/capture/cupti/cupti_front.h"
#include "preload/capture/cupti/cupti_last_error.h"
#include "preload/capture/cupti/gpu_state.h"
#include "preload/capture/gpu_activity.h"
#include "preload/capture/streams/stream_table.h"
#include "preload/driver/driver.h"
#include "preload/driver/gpu_devices.h"
#include "preload/hardware_counters/counter_recording.h"
#include "preload/hardware_counters/owned_lock.h"
#include "preload/log/count.h"
#include "preload/pc_sampling/cubin_store.h"
#include "preload/pc_sampling/pc_session.h"
#include "preload/record/append.h"
#include "preload/record/texts.h"
#include "preload/record/thread_local.h"
#include "preload/record/thread_scope.h"

#include <linux/futex.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

namespace prof::preload {

std::atomic<bool> g_pc_sampling{false};

namespace {

using format::LossCounter;

// Why the options of this recording allow no PC samples. Empty: they do.
std::string_view refusal_of_options() {
  if (!PROF_CUPTI_PC_SAMPLING) return "libprof.so was built with the headers of a CUDA older than 11.3";
  if (!options().gpu) return "PROF_GPU=off: PC samples need GPU times";
  if (options().sampling.any()) return "PROF_SAMPLING uses the same hardware";
  if (options().counters.any()) return "PROF_COUNTERS uses the same hardware";
  if (options().budget.share != 0) return "PROF_BUDGET collects GPU times in bursts";
  return {};
}

}  // namespace

#if PROF_CUPTI_PC_SAMPLING

namespace {

constexpr uint64_t kReadEvery = 100'000'000, kReadRarely = 800'000'000, kLookEvery = 10'000'000;
constexpr uint64_t kUnloadWait = 50'000'000, kYieldWait = 150'000'000;
constexpr uint32_t kSessions = 16;

struct Sampled {
  std::atomic<CUcontext> context{nullptr};  // null: free
  // Set by the hook before a call that may end the context; the helper thread reads once more, then not again.
  std::atomic<bool> ending{false};
  std::atomic<bool> gone{false};  // set by the hook when the context has ended
  // Below: guarded by g_lock.
  bool over = false;  // read no more, though CUPTI may still sample
  bool read_at_end = false;
  format::ContextId id{};
  PcSession session;
  uint64_t due_ns = 0;
  uint64_t late_seen = 0;  // value of g_late at the last read
  // PROF_PC_SAMPLING=auto
  uint64_t read_every_ns = kReadEvery;
  uint64_t window_since_ns = 0, window_spent_ns = 0;
};
Sampled g_sampled[kSessions];
OwnedLock g_lock;  // one thread calls PC sampling at a time

std::atomic<bool> g_over{false};
std::atomic<uint32_t> g_requests{0}, g_served{0};  // reads before unloads; the second is a futex word
std::atomic<uint64_t> g_late{0};                   // unloads that did not wait for their read

// What is left of a time limit.
struct Until {
  uint64_t ns;
  bool over() const { return monotonic_ns() >= ns; }
};

// The fact `pc_sampling` is the reason why samples are missing. There is none while all is well, because facts of
// several threads have no order.
void refuse(std::string_view what, std::string_view reason) {
  count(LossCounter::pc_sampling_unavailable);
  define_meta("pc_sampling", reason);
  static std::atomic<bool> said{false};
  say(said, what, reason);
}

constexpr uint32_t varint_bytes(uint64_t value) {
  return (63 - static_cast<uint32_t>(__builtin_clzll(value | 1))) / 7 + 1;
}
constexpr uint32_t delta_bytes(uint64_t now, uint64_t before) {
  return varint_bytes(format::zigzag(static_cast<int64_t>(now - before)));
}

// Writes the samples of one function, in as many records as they need.
class FunctionWriter {
 public:
  FunctionWriter(const format::PcBatch& batch, uint64_t crc, const char* name) {
    event_.time = batch.time;
    event_.context = batch.context;
    event_.period = batch.period;
    event_.flags = batch.flags & format::kPcAmbiguous;
    event_.cubin = cubin_with_samples(crc);
    event_.function = intern_string(name != nullptr ? std::string_view{name} : std::string_view{});
  }
  void add(uint64_t place, uint64_t samples) {
    const uint32_t more = delta_bytes(place, last_place_) + delta_bytes(samples, last_samples_);
    if (used_ == kMost || bytes_ + more > kMostBytes) flush();
    places_[used_] = last_place_ = place;
    samples_[used_++] = last_samples_ = samples;
    bytes_ += more;
  }
  void flush() {
    if (used_ == 0) return;
    event_.places = {places_, nullptr, used_};
    event_.samples = {samples_, nullptr, used_};
    emit(event_);
    used_ = bytes_ = 0;
    last_place_ = last_samples_ = 0;
  }

 private:
  // With the other fields (at most 60 bytes) below kMaxRecordBytes, and few enough that blocks are filled well.
  static constexpr uint32_t kMost = 512, kMostBytes = 1000;
  static_assert(kMostBytes + 2 * format::kMaxVarintBytes + 100 < format::kMaxRecordBytes);
  format::PcSamples event_;
  uint64_t places_[kMost], samples_[kMost];
  uint64_t last_place_ = 0, last_samples_ = 0;
  uint32_t used_ = 0, bytes_ = 0;
};

// CUPTI's records are in no order: by module, function and offset.
bool before(const CUpti_PCSamplingPCData& a, const CUpti_PCSamplingPCData& b) {
  if (a.cubinCrc != b.cubinCrc) return a.cubinCrc < b.cubinCrc;
  if (a.functionIndex != b.functionIndex) return a.functionIndex < b.functionIndex;
  if (const int names = a.functionName == b.functionName || a.functionName == nullptr || b.functionName == nullptr
                            ? 0
                            : std::strcmp(a.functionName, b.functionName);
      names != 0)
    return names < 0;
  return a.pcOffset < b.pcOffset;
}
bool same_function(const CUpti_PCSamplingPCData& a, const CUpti_PCSamplingPCData& b) {
  return a.cubinCrc == b.cubinCrc && a.functionIndex == b.functionIndex &&
         (a.functionName == b.functionName ||
          (a.functionName != nullptr && b.functionName != nullptr && std::strcmp(a.functionName, b.functionName) == 0));
}

// The caller holds the lock and is inside a scope that records. `flags`: of the batch.
void write_batch(const Sampled& sampled, uint32_t flags) {
  const CUpti_PCSamplingData& data = sampled.session.data();
  if (data.totalSamples == 0 && data.totalNumPcs == 0 && (flags & format::kPcBufferFull) == 0) return;
  format::PcBatch batch;
  batch.time = now_ticks();
  batch.context = sampled.id;
  batch.period = sampled.session.period();
  batch.total = data.totalSamples;
  batch.dropped = data.droppedSamples;
  batch.non_user = data.nonUsrKernelsTotalSamples;
  batch.flags = flags;
  emit(batch);
  if (data.droppedSamples != 0) count(LossCounter::pc_samples_dropped, data.droppedSamples);
  static uint16_t order[PcSession::kPcs];
  const auto pcs = static_cast<uint32_t>(std::min<size_t>(data.totalNumPcs, PcSession::kPcs));
  for (uint32_t i = 0; i < pcs; ++i) order[i] = static_cast<uint16_t>(i);
  std::sort(order, order + pcs, [&](uint16_t a, uint16_t b) { return before(data.pPcData[a], data.pPcData[b]); });
  uint64_t ambiguous = 0;
  for (uint32_t i = 0; i < pcs;) {
    const CUpti_PCSamplingPCData& first = data.pPcData[order[i]];
    FunctionWriter writer(batch, first.cubinCrc, first.functionName);
    for (; i < pcs && same_function(first, data.pPcData[order[i]]); ++i) {
      const CUpti_PCSamplingPCData& pc = data.pPcData[order[i]];
      uint64_t of_reason[PcSession::kMostReasons] = {};
      uint64_t reasons = 0;  // bit r: reason r has samples
      for (size_t s = 0; s < pc.stallReasonCount; ++s) {
        const uint32_t reason = pc.stallReason[s].pcSamplingStallReasonIndex;
        if (reason >= PcSession::kMostReasons || pc.stallReason[s].samples == 0) continue;
        of_reason[reason] += pc.stallReason[s].samples;
        reasons |= uint64_t{1} << reason;
      }
      for (; reasons != 0; reasons &= reasons - 1) {
        const auto reason = static_cast<uint32_t>(__builtin_ctzll(reasons));
        writer.add(format::PcSamples::place(pc.pcOffset, reason), of_reason[reason]);
        ambiguous += of_reason[reason];
      }
    }
    writer.flush();
  }
  if ((flags & format::kPcAmbiguous) != 0) count(LossCounter::pc_samples_ambiguous, ambiguous);
}

// The caller holds the lock and is inside a scope that records.
void end_session(Sampled& sampled) {
  const bool late = g_late.load(std::memory_order_seq_cst) != sampled.late_seen;
  if (sampled.session.is_open() && sampled.session.close()) write_batch(sampled, late ? format::kPcAmbiguous : 0);
  sampled.session.abandon();
}

// Reads all samples that are ready. The caller holds the lock and is inside a scope that records. CUPTI finds the
// functions of samples during the read, so an unload that did not wait concerns a read that began before it, too.
void read_session(Sampled& sampled, Until until) {
  const uint64_t begin = monotonic_ns();
  const uint64_t late = g_late.load(std::memory_order_seq_cst);
  bool ok = true;
  PcSession::Read read = PcSession::Read::More;
  while (ok && read == PcSession::Read::More && !until.over()) {
    read = sampled.session.read();
    ok = read != PcSession::Read::Refused;
    uint32_t flags = g_late.load(std::memory_order_seq_cst) != sampled.late_seen ? format::kPcAmbiguous : 0;
    if (read == PcSession::Read::Full) flags |= format::kPcBufferFull;
    if (ok) write_batch(sampled, flags);
  }
  if (read == PcSession::Read::Done) sampled.late_seen = late;
  if (read == PcSession::Read::Full) count(LossCounter::pc_buffer_full);
  if (!ok) {
    refuse("PC samples of a context end: ", sampled.session.reason());
  } else if (read == PcSession::Read::Full) {
    refuse("PC samples of a context end: ", "the hardware's buffer was full; sample more rarely (PROF_PC_SAMPLING)");
  }
  sampled.over = !ok || read == PcSession::Read::Full;
  const uint64_t now = monotonic_ns();
  count(LossCounter::pc_read_ns, now - begin);
  sampled.window_spent_ns += now - begin;
  sampled.due_ns = now + sampled.read_every_ns;
}

// PROF_PC_SAMPLING=auto: reading takes at most 3 % of a core, in windows of two seconds; else it becomes rarer.
void adapt_reads(Sampled& sampled, uint64_t now_ns) {
  constexpr uint64_t kWindow = 2'000'000'000;
  if (sampled.window_since_ns == 0) sampled.window_since_ns = now_ns;
  const uint64_t passed = now_ns - sampled.window_since_ns;
  if (passed < kWindow) return;
  const bool much = sampled.window_spent_ns > passed / 100 * 3;
  sampled.window_since_ns = now_ns;
  sampled.window_spent_ns = 0;
  if (!much || !options().pc_sampling.automatic || sampled.read_every_ns == kReadRarely) return;
  sampled.read_every_ns *= 2;
  explain("PC samples take too much time: they are read each ", Decimal(sampled.read_every_ns / 1'000'000).text(),
          " ms now");
}

// The caller holds the lock and is inside a scope that records.
void open_session(Sampled& sampled, CUcontext context, format::ContextId id) {
  sampled.id = id;
  sampled.over = sampled.read_at_end = false;
  sampled.read_every_ns = kReadEvery;
  sampled.window_since_ns = sampled.window_spent_ns = 0;
  sampled.late_seen = g_late.load(std::memory_order_relaxed);
  sampled.ending.store(false, std::memory_order_relaxed);
  sampled.gone.store(false, std::memory_order_relaxed);
  sampled.context.store(context, std::memory_order_seq_cst);
  const uint64_t begin = monotonic_ns();
  const auto period = static_cast<uint32_t>(options().pc_sampling.exponent);
  pc_samples_load_range_profiler(true);
  if (!sampled.session.open(g_cupti.api, context, period)) {
    refuse("no PC samples of a context: ", sampled.session.reason());
    sampled.over = true;
    return;
  }
  // CUPTI's libraries have exit handlers of their own, which must run after ours.
  static std::atomic<bool> registered{false};
  if (!registered.exchange(true)) register_exit_handlers();
  char names[PcSession::kMostReasons * PcSession::kNameBytes];
  const uint32_t size = sampled.session.reason_names(names, sizeof names);
  format::StallReasonsDef reasons;
  reasons.context = id;
  reasons.names = intern_lasting_string({names, size});
  define(reasons);
  sampled.due_ns = monotonic_ns() + kReadEvery;
  explain("samples instructions, opened in ", Decimal((monotonic_ns() - begin) / 1'000'000).text(), " ms");
}

Sampled* sampled_of(CUcontext context) {
  for (Sampled& sampled : g_sampled) {
    if (sampled.context.load(std::memory_order_acquire) == context) return &sampled;
  }
  return nullptr;
}

// The caller holds the lock and is inside a scope that records.
void look_for_contexts() {
  if (any_open_capture() || detail::g_streams == nullptr) return;
  const uint32_t contexts = std::min(detail::g_streams->context_count.load(std::memory_order_acquire), kMaxContexts);
  for (uint32_t i = 0; i < contexts; ++i) {
    const ContextState& state = detail::g_streams->contexts[i];
    const CUcontext handle = state.handle.load(std::memory_order_acquire);
    if (handle == nullptr || !device_wanted(state.device) || sampled_of(handle) != nullptr) continue;
    Sampled* const free = sampled_of(nullptr);
    if (free != nullptr) {
      open_session(*free, handle, state.id);
      continue;
    }
    static std::atomic<bool> said{false};
    if (said.load(std::memory_order_relaxed)) continue;
    refuse("no PC samples of a context: ", "more than 16 contexts at once");
    said.store(true, std::memory_order_relaxed);
  }
}

// Serves the requests of hooks that have arrived, and reads what is due.
void read_due(uint64_t now_ns) {
  const uint32_t requests = g_requests.load(std::memory_order_seq_cst);
  const bool asked = requests != g_served.load(std::memory_order_relaxed);
  for (Sampled& sampled : g_sampled) {
    if (sampled.context.load(std::memory_order_acquire) == nullptr) continue;
    const bool ending = sampled.ending.load(std::memory_order_seq_cst);
    if (sampled.session.is_open() && !sampled.over &&
        (ending ? !sampled.read_at_end : asked || sampled.due_ns <= now_ns)) {
      read_session(sampled, {now_ns + kReadEvery});
      if (!ending) adapt_reads(sampled, monotonic_ns());
    }
    sampled.read_at_end = ending;
  }
  if (!asked) return;
  g_served.store(requests, std::memory_order_seq_cst);
  futex(g_served, FUTEX_WAKE, INT32_MAX, nullptr);
}

// The next context may have the same handle.
void forget_ended_contexts() {
  for (Sampled& sampled : g_sampled) {
    if (sampled.context.load(std::memory_order_acquire) == nullptr || !sampled.gone.load(std::memory_order_acquire))
      continue;
    sampled.session.abandon();
    sampled.context.store(nullptr, std::memory_order_release);
  }
}

// Runs on its own thread, which may be abandoned, or on the thread of a profiler's call.
void end_all(uint64_t stop_ns) {
  if (g_lock.take(stop_ns) == OwnedLock::Taken::No) return;
  const ThreadScope scope;
  const bool recording = scope.recording();
  const CuptiCall call;
  for (Sampled& sampled : g_sampled) {
    if (sampled.context.load(std::memory_order_acquire) == nullptr) continue;
    const bool ending = sampled.ending.load(std::memory_order_acquire);
    if (recording && sampled.session.is_open() && !ending) {
      if (!sampled.over) read_session(sampled, {stop_ns});
      end_session(sampled);
    }
    sampled.session.abandon();
    sampled.context.store(nullptr, std::memory_order_release);
  }
  g_lock.give();
}

bool any_session() {
  return std::any_of(g_sampled, g_sampled + kSessions,
                     [](const Sampled& sampled) { return sampled.context.load() != nullptr; });
}

// Returns whether the helper thread has read all samples.
bool await_read() {
  const uint32_t mine = g_requests.fetch_add(1, std::memory_order_seq_cst) + 1;
  const uint64_t until = monotonic_ns() + kUnloadWait;
  wake_helper();
  for (;;) {
    const uint32_t served = g_served.load(std::memory_order_seq_cst);
    if (static_cast<int32_t>(served - mine) >= 0) return true;
    const uint64_t now = monotonic_ns();
    if (now >= until || g_over.load(std::memory_order_relaxed)) return g_over.load(std::memory_order_relaxed);
    const timespec pause = timespec_of(until - now);
    futex(g_served, FUTEX_WAIT, served, &pause);
  }
}

}  // namespace

void open_pc_sampling() {
  const bool wanted = options().pc_sampling.wanted() && refusal_of_options().empty();
  restart_cubins();
  for (Sampled& sampled : g_sampled) {
    sampled.context.store(nullptr, std::memory_order_relaxed);
    sampled.ending.store(false, std::memory_order_relaxed);
  }
  g_served.store(g_requests.load());
  g_over.store(false, std::memory_order_relaxed);
  g_pc_sampling.store(wanted, std::memory_order_release);
}

uint64_t tend_pc_sampling(uint64_t now_ns) {
  if (!pc_sampling_on() || g_over.load(std::memory_order_acquire)) return ~0ull;
  const GpuActivity activity = g_gpu_activity.load(std::memory_order_acquire);
  const ThreadScope scope;
  if (!scope.recording()) return now_ns + kLookEvery;
  if (activity == GpuActivity::Off) {
    g_pc_sampling.store(false, std::memory_order_relaxed);
    refuse("no PC samples: ",
           cupti_front_abandoned() ? "this is a child of a process that used CUPTI" : "there are no GPU times");
    return ~0ull;
  }
  if (activity != GpuActivity::On) return now_ns + kLookEvery;
  if (g_lock.take(now_ns) == OwnedLock::Taken::No) return now_ns + kLookEvery;
  uint64_t next = now_ns + kLookEvery;
  if (!g_over.load(std::memory_order_seq_cst)) {
    const CuptiCall call;
    if (!register_cubin_callback()) {
      g_pc_sampling.store(false, std::memory_order_relaxed);
      refuse("no PC samples: ", "CUPTI does not pass the cubins (cuptiRegisterComputeCrcCallback)");
      next = ~0ull;
    } else {
      forget_ended_contexts();
      look_for_contexts();
      read_due(monotonic_ns());
    }
  }
  g_lock.give();
  if (g_requests.load(std::memory_order_seq_cst) != g_served.load(std::memory_order_relaxed)) next = now_ns;
  return next;
}

void finish_pc_sampling() {
  if (!pc_sampling_on()) return;
  const bool yielded = g_over.exchange(true);
  const int saved = errno;
  futex(g_served, FUTEX_WAKE, INT32_MAX, nullptr);
  const OwnCalls own;
  const auto work = [](uint64_t stop_ns) {
    end_all(stop_ns);
    keep_cubins();
  };
  if ((yielded || any_session()) && run_bounded(work, options().exit_wait) != FlushOutcome::Done) {
    count(LossCounter::cupti_flush_timeouts);
    static std::atomic<bool> said{false};
    say(said, "CUPTI did not return in time: PC samples of the last moments are missing");
  }
  g_pc_sampling.store(false, std::memory_order_relaxed);
  errno = saved;
}

void stop_pc_sampling() {
  if (!pc_sampling_on() || !on_helper_thread()) return finish_pc_sampling();
  g_over.store(true, std::memory_order_seq_cst);
  futex(g_served, FUTEX_WAKE, INT32_MAX, nullptr);
  if (g_lock.take(monotonic_ns()) != OwnedLock::Taken::No) {
    const ThreadScope scope;
    const CuptiCall call;
    for (Sampled& sampled : g_sampled) {
      if (scope.recording() && sampled.context.load(std::memory_order_acquire) != nullptr &&
          sampled.session.is_open() && !sampled.over)
        read_session(sampled, {monotonic_ns() + kReadEvery});
      sampled.session.leave();
    }
    g_lock.give();
  }
  keep_cubins();
  if (any_session()) {
    static std::atomic<bool> said{false};
    say(said, "CUPTI goes on sampling after the recording ended: it cannot be ended beside the program's launches");
  }
  g_pc_sampling.store(false, std::memory_order_relaxed);
}

void abandon_pc_sampling() {
  g_pc_sampling.store(false, std::memory_order_relaxed);
  g_lock.abandon();
  for (Sampled& sampled : g_sampled) {
    if (sampled.context.load(std::memory_order_relaxed) == nullptr) continue;
    sampled.session.abandon();
    sampled.context.store(nullptr, std::memory_order_relaxed);
  }
}

void read_pc_samples_before_unload() {
  if (!any_session()) return;
  const KeepErrno keep;
  if (await_read()) return;
  count(LossCounter::pc_unloads_late);
  g_late.fetch_add(1, std::memory_order_seq_cst);
}

void pc_before_context_end(CUcontext context) {
  if (context == nullptr) return;
  Sampled* const sampled = sampled_of(context);
  if (sampled == nullptr) return;
  const KeepErrno keep;
  sampled->ending.store(true, std::memory_order_seq_cst);
  if (!await_read()) count(LossCounter::pc_unloads_late);
}

void pc_context_gone(CUcontext context) {
  if (Sampled* const sampled = context != nullptr ? sampled_of(context) : nullptr; sampled != nullptr)
    sampled->gone.store(true, std::memory_order_release);
}

void pc_context_stays(CUcontext context) {
  if (Sampled* const sampled = context != nullptr ? sampled_of(context) : nullptr; sampled != nullptr)
    sampled->ending.store(false, std::memory_order_seq_cst);
}

void yield_pc_sampling(const char* function) {
  if (!pc_sampling_on() || g_over.exchange(true)) return;
  pc_samples_load_range_profiler(false);
  const KeepErrno keep;
  const OwnCalls own;
  const KeepCuptiError keep_error;
  futex(g_served, FUTEX_WAKE, INT32_MAX, nullptr);
  count(LossCounter::pc_sampling_yields);
  const bool sampled = any_session();
  end_all(monotonic_ns() + kYieldWait);
  const JoinedText text{"until the program called ", function};
  if (const ThreadScope scope; scope.recording()) define_meta("pc_sampling", text.view());
  static std::atomic<bool> said{false};
  if (sampled) say(said, "PC samples end: the program uses the same hardware (", function, ")");
}

#else

void open_pc_sampling() {}
uint64_t tend_pc_sampling(uint64_t) { return ~0ull; }
void finish_pc_sampling() {}
void stop_pc_sampling() {}
void abandon_pc_sampling() {}
void read_pc_samples_before_unload() {}
void pc_before_context_end(CUcontext) {}
void pc_context_stays(CUcontext) {}
void pc_context_gone(CUcontext) {}
void yield_pc_sampling(const char*) {}

#endif

void describe_pc_sampling() {
  if (!options().pc_sampling.wanted()) return;
  const std::string_view reason = refusal_of_options();
  if (reason.empty()) return;
  count(LossCounter::pc_sampling_unavailable);
  define_meta("pc_sampling", reason);
  static std::atomic<bool> said{false};
  say(said, "no PC samples: ", reason);
}

}  // namespace prof::preload
