// See nvtx_clocks.h.
#include "preload/intercept/nvtx/nvtx_clocks.h"

#include "preload/base/clock.h"
#include "preload/base/loader_call.h"
#include "preload/driver/handle_map.h"
#include "preload/format/nvtx_definitions.h"
#include "preload/format/nvtx_types.h"
#include "preload/intercept/nvtx/nvtx_registry.h"
#include "preload/intercept/nvtx/nvtx_scopes.h"
#include "preload/lifecycle/call_scope.h"
#include "preload/record/append.h"
#include "preload/record/thread_local.h"

#include <link.h>

#include <atomic>
#include <cstring>
#include <ctime>
#include <new>

namespace prof::preload {
namespace {

namespace nvtx = format::nvtx;
using format::StampClock;

struct ProgramTimer {
  NvtxTimer timer;
  uint64_t unloads = 0;  // at registration: after an unload the function may no longer exist
};
constexpr uint64_t kAlwaysThere = UINT64_MAX;  // a function of libprof.so

// Clocks of the machine of which the log has no readings. They are queried like a clock of the program.
template <clockid_t clock> int64_t machine_ns() { return static_cast<int64_t>(kernel_clock_ns(clock)); }
constexpr uint64_t kToolType = 1, kMonotonicType = 14, kRawType = 15,
                   kBootType = 17;  // NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_…
constexpr ProgramTimer kRawTimer = {{machine_ns<CLOCK_MONOTONIC_RAW>, nullptr, nullptr}, kAlwaysThere};
constexpr ProgramTimer kBootTimer = {{machine_ns<CLOCK_BOOTTIME>, nullptr, nullptr}, kAlwaysThere};
bool is_machine_type(uint64_t type) { return type == kRawType || type == kBootType; }

// How often code was unloaded from the process, counted by the loader. code_generation() counts only while stacks are
// recorded. The lock of the loader's list is not held while constructors run.
uint64_t unloads() {
  uint64_t count = 0;
  visit_objects(
      [](dl_phdr_info* info, size_t, void* to) {
        *static_cast<uint64_t*>(to) = info->dlpi_subs;
        return 1;
      },
      &count);
  return count;
}

struct ProgramClock {
  NvtxObject* domain = nullptr;  // null also for NVTX's own numbers
  uint64_t number = 0;
  StampClock id{};
  std::atomic<uint64_t> type{0}, scope{0}, flags{0}, resolution{0}, start{0};
  std::atomic<const ProgramTimer*> source{nullptr};
  std::atomic<uint64_t> defined{0};   // epoch of the recording in which it was last defined
  std::atomic<uint64_t> asked_in{0};  // epoch of the recording in which the source was last queried
  std::atomic<uint64_t> asked_ns{0};  // time of that query, ns of CLOCK_MONOTONIC
};

HandleMap<512> g_program_clocks;    // nvtx_key(domain, number) -> ProgramClock
HandleMap<256> g_clocks_of_scopes;  // nvtx_key(domain, number of a scope) -> number of the time domain
std::atomic<uint32_t> g_next_clock{static_cast<uint32_t>(StampClock::kFirstProgramClock)};

// The clocks that a reader converts without further data.
StampClock known_clock(uint64_t type) {
  switch (type) {
    case kToolType: return StampClock::Tick;
    case 10:  // TSC
      return g_clock.source == format::ClockSource::Tsc ? StampClock::Tick : StampClock::Unknown;
    case 12:  // CLOCK_REALTIME
    case 13:
    case 42:                               // timespec_get
    case 52: return StampClock::Realtime;  // std::chrono::system_clock
    case 14:                               // CLOCK_MONOTONIC
    case 16:
    case 50: return StampClock::Monotonic;  // std::chrono::steady_clock
    default: return StampClock::Unknown;
  }
}

// The clock with that number. Null: the program did not register it.
ProgramClock* reported_clock(NvtxObject* domain, uint64_t number) {
  if (number < nvtx::kFirstSchema) domain = nullptr;
  return reinterpret_cast<ProgramClock*>(g_program_clocks.find(nvtx_key(domain, number)));
}

// The clock with that number, made if necessary. Null: the number is 0, or the table is full.
ProgramClock* program_clock(NvtxObject* domain, uint64_t number) {
  static std::atomic<bool> full{false};  // when the table is full, no memory is allocated
  if (number == 0) return nullptr;
  if (ProgramClock* const known = reported_clock(domain, number); known != nullptr) return known;
  if (number < nvtx::kFirstSchema) domain = nullptr;
  void* const memory = full.load(std::memory_order_relaxed) ? nullptr : nvtx_allocate(sizeof(ProgramClock));
  if (memory == nullptr) return nullptr;
  auto* const clock = new (memory) ProgramClock{};
  clock->domain = domain;
  clock->number = number;
  clock->type = number < nvtx::kFirstSchema ? number : 0;
  if (is_machine_type(number)) {
    clock->source = number == kRawType ? &kRawTimer : &kBootTimer;
    clock->resolution = 1'000'000'000;
  }
  clock->id = static_cast<StampClock>(g_next_clock.fetch_add(1, std::memory_order_relaxed));
  if (g_program_clocks.put(nvtx_key(domain, number), reinterpret_cast<uint64_t>(clock))) return clock;
  full.store(true, std::memory_order_relaxed);
  return nullptr;
}

// What a number means: a clock that the reader knows, by its own number or by its type's, or a clock of the program. If
// it is neither, the table is full.
struct Meaning {
  StampClock known = StampClock::Unknown;
  ProgramClock* program = nullptr;  // also set if `known` is the clock of its type
};
Meaning meaning_of(NvtxObject* domain, uint64_t number) {
  if (const StampClock known = known_clock(number); known != StampClock::Unknown) return {known, nullptr};
  ProgramClock* clock = program_clock(domain, number);
  if (clock != nullptr && is_machine_type(clock->type)) clock = program_clock(nullptr, clock->type);
  if (clock == nullptr) return {};
  return {known_clock(clock->type), clock};
}

// True: this was its first definition in this recording.
bool define_clock(ProgramClock& clock) {
  const uint64_t life = t_local.epoch;
  if (clock.defined.load(std::memory_order_relaxed) == life) return false;
  const uint64_t scope = clock.scope;
  nvtx_define_scope(clock.domain, scope);
  if (!define(format::NvtxClockDef{clock.id, nvtx_domain_id(clock.domain), clock.number, clock.type, scope, clock.flags,
                                   clock.resolution, clock.start}))
    return false;
  clock.defined.store(life, std::memory_order_relaxed);
  return true;
}

// The last synchronisation points that the program reported, for recordings that start later. A slot's sequence is odd
// while it is filled. A reader that saw a value of the next filling (release, acquire) also sees its sequence.
struct Agreement {
  std::atomic<uint64_t> sequence{0};
  std::atomic<ProgramClock*> from_clock{nullptr},
      to_clock{nullptr};  // null: `from` or `to` is a clock that the reader knows
  std::atomic<StampClock> from{}, to{};
  std::atomic<uint64_t> source{0}, destination{0}, slope{0};
  std::atomic<uint64_t> written{0};  // epoch of the recording in which it was last written
};
constexpr uint32_t kAgreements = 1024;
Agreement g_agreements[kAgreements];
std::atomic<uint32_t> g_next_agreement{0};

void write_agreement(Agreement& slot) {
  const uint64_t life = t_local.epoch;
  uint64_t written = slot.written.load(std::memory_order_relaxed);
  const uint64_t sequence = slot.sequence.load(std::memory_order_acquire);
  if (sequence == 0 || sequence % 2 != 0 || written == life) return;
  ProgramClock* const from = slot.from_clock.load(std::memory_order_acquire);
  ProgramClock* const to = slot.to_clock.load(std::memory_order_acquire);
  format::NvtxSyncPoint point;
  point.clock = slot.from.load(std::memory_order_acquire);
  point.other = slot.to.load(std::memory_order_acquire);
  point.source = slot.source.load(std::memory_order_acquire);
  point.destination = slot.destination.load(std::memory_order_acquire);
  point.slope = slot.slope.load(std::memory_order_acquire);
  if (slot.sequence.load(std::memory_order_relaxed) != sequence) return;  // replaced: the other thread writes it
  if (!slot.written.compare_exchange_strong(written, life, std::memory_order_relaxed)) return;
  if (from != nullptr) define_clock(*from);
  if (to != nullptr) define_clock(*to);
  point.time = now_ticks();
  preload::keep(point);
}

// Synchronisation points are kept when a recording ends. The log of the next recording gets them with the first data
// about a clock of the program.
void write_agreements() {
  static std::atomic<uint64_t> written_in{0};
  const uint64_t life = t_local.epoch;
  if (written_in.load(std::memory_order_relaxed) == life || written_in.exchange(life) == life) return;
  for (Agreement& slot : g_agreements) write_agreement(slot);
}

// The meaning of a number in a synchronisation point. While nothing is recorded, nvtxTimestampGet() returns ns of
// CLOCK_MONOTONIC.
Meaning agreed(NvtxObject* domain, uint64_t number, bool recording) {
  if (number == kToolType && !recording) return {StampClock::Monotonic, nullptr};
  Meaning meaning = meaning_of(domain, number);
  if (meaning.known != StampClock::Unknown) meaning.program = nullptr;
  return meaning;
}

Agreement* keep_agreement(NvtxObject* domain, const NvtxAgreement& told, bool recording) {
  const auto [from, from_clock] = agreed(domain, told.from, recording);
  const auto [to, to_clock] = agreed(domain, told.to, recording);
  if (from_clock == nullptr && to_clock == nullptr) return nullptr;  // both are known, or both will never be known
  if ((from == StampClock::Unknown && from_clock == nullptr) || (to == StampClock::Unknown && to_clock == nullptr)) {
    nvtx_refuse();
    return nullptr;
  }
  Agreement& slot = g_agreements[g_next_agreement.fetch_add(1, std::memory_order_relaxed) % kAgreements];
  uint64_t sequence = slot.sequence.load(std::memory_order_relaxed);
  if (sequence % 2 != 0 || !slot.sequence.compare_exchange_strong(sequence, sequence + 1, std::memory_order_acq_rel)) {
    nvtx_refuse();  // another thread is filling it, and a thousand others came since it started
    return nullptr;
  }
  slot.from_clock.store(from_clock, std::memory_order_release);
  slot.to_clock.store(to_clock, std::memory_order_release);
  slot.from.store(from_clock != nullptr ? from_clock->id : from, std::memory_order_release);
  slot.to.store(to_clock != nullptr ? to_clock->id : to, std::memory_order_release);
  slot.source.store(static_cast<uint64_t>(told.source), std::memory_order_release);
  slot.destination.store(static_cast<uint64_t>(told.destination), std::memory_order_release);
  uint64_t slope = 0;
  std::memcpy(&slope, &told.slope, sizeof slope);
  slot.slope.store(slope, std::memory_order_release);
  slot.written.store(0, std::memory_order_release);
  slot.sequence.store(sequence + 2, std::memory_order_release);
  return &slot;
}

// Calls the program's own function between two readings of CLOCK_MONOTONIC. Their middle is the time of the answer. The
// quickest of three calls is used.
NvtxAgreement ask(const ProgramClock& clock, const NvtxTimer& timer) {
  NvtxAgreement best{};
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < 3; ++i) {
    const uint64_t before = monotonic_ns();
    const int64_t answer = timer.plain != nullptr ? timer.plain() : timer.with_data(timer.data);
    const uint64_t took = monotonic_ns() - before;
    if (took >= least) continue;
    least = took;
    best = {clock.number, kMonotonicType, answer, static_cast<int64_t>(before + took / 2), 0};
  }
  return best;
}

void ask_source(ProgramClock& clock) {
  const ProgramTimer* const source = clock.source.load(std::memory_order_acquire);
  if (source == nullptr) return;
  constexpr uint64_t kAskEveryNs = 10'000'000;
  const uint64_t now_ns = monotonic_ns();
  if (clock.asked_in.exchange(t_local.epoch, std::memory_order_relaxed) == t_local.epoch &&
      now_ns - clock.asked_ns.load(std::memory_order_relaxed) < kAskEveryNs)
    return;
  if (source->unloads != kAlwaysThere && source->unloads != unloads()) return;
  clock.asked_ns.store(now_ns, std::memory_order_relaxed);
  const NvtxAgreement answer = ask(clock, source->timer);
  emit(format::NvtxSyncPoint{now_ticks(), clock.id, StampClock::Monotonic, static_cast<uint64_t>(answer.source),
                             static_cast<uint64_t>(answer.destination), 0});
}

}  // namespace

uint64_t nvtx_register_time_domain(NvtxObject* domain, const NvtxTimeDomainGiven* given, uint64_t wanted) {
  if (given == nullptr) return nvtx_refuse();
  const uint64_t number = nvtx_number_of(wanted, given->id);
  if (number < nvtx::kFirstSchema) return wanted != 0 ? wanted : nvtx_refuse();  // NVTX's own numbers are fixed
  ProgramClock* const clock = program_clock(domain, number);
  if (clock == nullptr) return nvtx_refuse();
  clock->type = given->timestamp_type;
  clock->scope = given->scope;
  clock->flags = given->flags;
  clock->resolution = given->resolution > 0 ? static_cast<uint64_t>(given->resolution) : 0;
  clock->start = given->start;
  if (given->scope != 0) g_clocks_of_scopes.put(nvtx_key(domain, given->scope), number);
  return number;
}

uint64_t nvtx_time_domain_of(const NvtxSemantics* semantics) {
  for (int i = 0; semantics != nullptr && i < 16; ++i, semantics = semantics->next) {
    if (semantics->id == kSemanticsTime && semantics->struct_size >= sizeof(NvtxSemanticsTime))
      return reinterpret_cast<const NvtxSemanticsTime*>(semantics)->time_domain;
  }
  return 0;
}

format::StampClock nvtx_stamp_clock(NvtxObject* domain, uint64_t number, uint64_t scope) {
  if (number == 0 && scope != 0) number = g_clocks_of_scopes.find(nvtx_key(domain, scope));
  const auto [known, clock] = meaning_of(domain, number);
  if (known != StampClock::Unknown) return known;
  if (clock == nullptr) return StampClock::Unknown;
  define_clock(*clock);
  write_agreements();
  ask_source(*clock);
  // A function that was registered for the type is used for its time domains.
  const uint64_t type = clock->type;
  ProgramClock* const of_type = type != 0 && type != clock->number ? reported_clock(nullptr, type) : nullptr;
  if (of_type != nullptr && of_type->source.load(std::memory_order_relaxed) != nullptr) {
    define_clock(*of_type);
    ask_source(*of_type);
  }
  return clock->id;
}

void nvtx_sync_clocks(NvtxObject* domain, const NvtxAgreement& agreement) {
  const EventScope scope;
  Agreement* const slot = keep_agreement(domain, agreement, scope.recording());
  if (slot == nullptr || !scope.recording()) return;
  write_agreement(*slot);
  write_agreements();
}

void nvtx_timer_source(NvtxObject* domain, uint64_t number, const NvtxTimer& timer) {
  if (timer.plain == nullptr && timer.with_data == nullptr) return;
  const EventScope scope;
  if (known_clock(number) != StampClock::Unknown || is_machine_type(number)) return;
  ProgramClock* const clock = program_clock(domain, number);
  if (clock == nullptr) {
    nvtx_refuse();
    return;
  }
  const ProgramTimer* const there = clock->source.load(std::memory_order_acquire);
  const uint64_t unloaded = unloads();
  const bool same = there != nullptr && there->unloads == unloaded && there->timer.plain == timer.plain &&
                    there->timer.with_data == timer.with_data && there->timer.data == timer.data;
  void* const memory = same ? nullptr : nvtx_allocate(sizeof(ProgramTimer));
  if (!same && memory == nullptr) return;
  if (!same) clock->source.store(new (memory) ProgramTimer{timer, unloaded}, std::memory_order_release);
  // The first answer is kept for all recordings. Together with the answers that are queried when stamps come, it makes
  // a line.
  clock->asked_ns.store(monotonic_ns(), std::memory_order_relaxed);
  Agreement* const slot = keep_agreement(domain, ask(*clock, timer), scope.recording());
  if (slot != nullptr && scope.recording()) write_agreement(*slot);
}

}  // namespace prof::preload
