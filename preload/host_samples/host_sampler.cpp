#include "preload/host_samples/host_sampler.h"

#include "preload/base/clock.h"
#include "preload/base/code_generation.h"
#include "preload/base/decimal.h"
#include "preload/base/life_page.h"
#include "preload/base/messages.h"
#include "preload/base/options.h"
#include "preload/base/raw_call.h"
#include "preload/capture/gpu_busy.h"
#include "preload/capture/streams/depth_marks.h"
#include "preload/capture/streams/streams.h"
#include "preload/format/definitions.h"
#include "preload/format/host_events.h"
#include "preload/format/stack_definitions.h"
#include "preload/host_samples/perf_thread.h"
#include "preload/host_samples/pipe_holders.h"
#include "preload/host_samples/proc_path.h"
#include "preload/host_samples/thread_wait.h"
#include "preload/log/count.h"
#include "preload/log/log_storage.h"
#include "preload/record/append.h"
#include "preload/record/intern.h"
#include "preload/record/texts.h"
#include "preload/record/thread.h"
#include "preload/record/thread_scope.h"
#include "preload/stacks/call_stack.h"
#include "preload/stacks/code_images.h"
#include "preload/stacks/copied_stack.h"
#include "preload/stacks/python/outside_memory.h"
#include "preload/stacks/python/python_stack.h"
#include "preload/stacks/python_gil.h"
#include "preload/stacks/python_outside.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace prof::preload {

namespace {

using format::BlockedIn;
using format::HostState;
using format::LossCounter;

constexpr uint32_t kMostThreads = 1024;
constexpr uint32_t kMostRings = (16 << 20) / (PerfThread::kRingBytes + 4096);
constexpr uint32_t kMostLooks = 64;             // threads that are looked up in /proc in one round
constexpr uint64_t kMostRecords = 20'000;       // written in a second
constexpr uint32_t kMostMoments = 64;           // of one round
constexpr uint32_t kMostOthers = 64;            // threads that record nothing themselves, at once
constexpr uint64_t kOthersEvery = 100'000'000;  // ns between two searches for them
constexpr uint64_t kHasRun = 1'000'000;         // ns of CPU time
constexpr uint32_t kMostAwaitedThreads = 16;    // of one round
constexpr uint64_t kSearchEvery = 10'000'000;   // ns between two searches for new threads
constexpr uint64_t kSpanEvery = 1'000'000'000;  // a longer interval of one state is written in parts
constexpr uint32_t kPeriodsOfEvent = 256;       // an event is then opened again, with another period
constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kQuiet = 250'000;  // ns after a launch, see seems_idle()
// starved: the mean time between two rounds is at most this, so that the samples which the kernel took are judged by
// what the GPUs did then.
constexpr uint64_t kRoundEvery = 2'000'000;
// Below this share of busy time, a GPU of which nothing else is known seems to wait.
constexpr double kKeptBusy = 0.9;

// What is known of a thread, and what the last sample of its present wait was.
struct Sampled {
  uint32_t ordinal = 0;  // format::ThreadOrdinal; 0: the slot is free
  uint32_t tid = 0;
  uint64_t handle = 0;
  PerfThread perf;
  bool without_perf = false;  // counted
  bool present = false;       // found by the last search
  bool other = false;         // records nothing itself
  HostState state{};
  uint64_t since_ns = 0;   // of the present state; 0: the state is not known
  uint64_t reopen_ns = 0;  // when the event gets another period
  uint64_t last_ns = 0;    // time of the last record of a switch
  uint32_t moment = 0;     // the first one of this round that the thread has no sample for yet
  bool looked = false;     // the fields below describe the present wait
  BlockedThread wait;      // without perf: what it waited in
  BlockedIn blocked_in{};
  format::StringId detail{};
  format::StackId stack{};
};

// Memory of the sampler, from the first recording with samples on.
struct Room {
  Sampled threads[kMostThreads];
  CallingThread found[kMostThreads];
  uint8_t record[PerfThread::kMostRecordBytes];
  uint8_t stack[PerfThread::kStackBytes];
};
Room* g_room = nullptr;

// Held by a round and by the end of a recording. The end waits for a round at most kPatience.
std::atomic<uint32_t> g_lock{0};
constexpr uint64_t kPatience = 50'000'000;

enum class Sampling : uint32_t { Off, Due, On, Over };
std::atomic<Sampling> g_sampling{Sampling::Off};

// Only the holder of the lock uses these.
option::HostRate g_rate;  // requested by the option, or by prof ctl since
uint64_t g_period_ns = 0;
uint64_t g_due_ns = 0, g_search_ns = 0;
uint64_t g_round_ns = ~0ull;  // starved: when a round is due that takes no samples itself
// When a thread that does not run has samples: now, and the moments since the last round at which a round was due, if
// the helper thread is late.
uint64_t g_moments[kMostMoments];
uint32_t g_moment_count = 0;
uint64_t g_random = 0;
uint32_t g_used = 0;                      // slots of g_room->threads in use, from the first
uint32_t g_rings = 0;                     // open events
uint32_t g_turn = 0;                      // slot with which the looks of the next round begin
uint64_t g_second_ns = 0, g_records = 0;  // of the present second
bool g_refused = false;                   // the kernel refused perf events
bool g_idle_gpu = true;                   // starved: the GPUs seem to be idle, or were not kept busy lately
uint32_t g_without_room = 0;              // threads at once for which there was no slot, the most so far

uint32_t g_others = 0;          // sampled threads that record nothing themselves
bool g_samples_others = false;  // in this process they are searched for
uint64_t g_others_ns = 0;       // when they are searched for
uint32_t g_awaited_tids[kMostAwaitedThreads];
uint32_t g_awaited_tid_count = 0;

struct Now {
  uint64_t tick, ns;
};
Now g_now;

uint64_t random_below(uint64_t limit) {
  g_random ^= g_random << 13;
  g_random ^= g_random >> 7;
  g_random ^= g_random << 17;
  return g_random % limit;
}
// Between half and one and a half of the mean.
uint64_t with_jitter(uint64_t mean_ns) { return mean_ns / 2 + random_below(mean_ns + 1); }

void read_now() {
  const ClockReading clocks = read_clocks();
  g_now = {clocks.tick, clocks.monotonic_ns};
}

// Times of a round are at most some ms away from its reading of the clocks.
uint64_t tick_of(uint64_t ns) {
  const auto ticks = [](uint64_t distance) {
    return static_cast<uint64_t>(static_cast<unsigned __int128>(distance) * g_clock.ticks_per_second / kSecond);
  };
  return ns <= g_now.ns ? g_now.tick - ticks(g_now.ns - ns) : g_now.tick + ticks(ns - g_now.ns);
}

// Whether another record may be written in this second.
bool has_room() {
  if (g_now.ns - g_second_ns >= kSecond) {
    g_second_ns = g_now.ns;
    g_records = 0;
  }
  if (g_records < kMostRecords) {
    ++g_records;
    return true;
  }
  count(LossCounter::host_samples_limited);
  return false;
}

void write_span(const Sampled& thread, uint64_t begin_ns, uint64_t end_ns, HostState state) {
  if (end_ns <= begin_ns || !has_room()) return;
  format::HostStateSpan span;
  span.end = tick_of(end_ns);
  span.duration = span.end - tick_of(begin_ns);
  span.thread = format::ThreadOrdinal{thread.ordinal};
  span.state = state;
  emit(span);
}

void write_sample(const Sampled& thread, uint64_t ns, HostState state, BlockedIn blocked_in, format::StringId detail,
                  format::StackId stack) {
  if (g_rate.starved && !g_idle_gpu) return;
  if (!has_room()) return;
  format::HostSample sample;
  sample.time = tick_of(ns);
  sample.thread = format::ThreadOrdinal{thread.ordinal};
  sample.state = state;
  sample.blocked_in = blocked_in;
  sample.detail = detail;
  sample.stack = stack;
  emit(sample);
}

// The samples of the thread's present state up to that time. A wait that was never looked at has no stack.
void write_moments(Sampled& thread, uint64_t until_ns) {
  for (; thread.moment < g_moment_count && g_moments[thread.moment] <= until_ns; ++thread.moment) {
    const uint64_t ns = g_moments[thread.moment];
    if (thread.since_ns == 0 || ns < thread.since_ns || thread.state == HostState::Running) continue;
    if (thread.looked) {
      write_sample(thread, ns, thread.state, thread.blocked_in, thread.detail, thread.stack);
    } else {
      write_sample(thread, ns, thread.state, BlockedIn::None, {}, {});
    }
  }
}

// The thread is in `state` from that time on.
void change_state(Sampled& thread, uint64_t ns, HostState state) {
  write_moments(thread, ns);
  if (thread.since_ns != 0) write_span(thread, thread.since_ns, ns, thread.state);
  thread.state = state;
  thread.since_ns = ns;
  thread.looked = false;
}

// The thread id of a thread with this pthread_self(); 0: it is not known.
uint32_t tid_of_known_handle(uint64_t handle) {
  for (uint32_t i = 0; i < g_used; ++i) {
    const Sampled& known = g_room->threads[i];
    if (known.ordinal != 0 && known.handle != 0) return tid_of_handle(handle, known.handle, known.tid);
  }
  return 0;
}

struct Frames {
  uint64_t native[format::kMaxStackFrames], stack_pointers[format::kMaxStackFrames], python[format::kMaxStackFrames];
  CopiedStack walked;
  PythonStack python_stack;
};

format::StackId define_stack(Frames& frames, bool with_native) {
  CopiedStack& native = frames.walked;
  const PythonStack& python = frames.python_stack;
  if (native.count == 0 && python.count == 0) return {};
  if (!with_native) native.flags |= format::kStackNoNative;
  look_for_python();
  define_images();
  Hash hash;
  const uint64_t generation = code_generation();
  hash.add(generation).add(uint64_t{native.flags | python.flags} << 32 | uint64_t{native.count} << 16 | python.count);
  for (uint32_t i = 0; i < native.count; ++i) hash.add(native.frames[i]);
  for (uint32_t i = 0; i < python.count; ++i) hash.add(python.frames[i]);
  const uint32_t id = g_intern.stacks.intern(hash.done(), [&](uint32_t fresh) {
    format::StackDef stack;
    stack.id = format::StackId{fresh};
    stack.generation = generation;
    stack.native = {frames.native, nullptr, native.count};
    stack.python = {frames.python, nullptr, python.count};
    stack.flags = native.flags | python.flags;
    return define(stack);
  });
  return format::StackId{id};
}

void prepare(Frames& frames) {
  const auto depth = static_cast<uint32_t>(options().stack_depth);
  frames.walked = {};
  frames.walked.frames = frames.native;
  frames.walked.stack_pointers = frames.stack_pointers;
  frames.walked.most = depth;
  frames.python_stack = {};
  frames.python_stack.frames = frames.python;
  frames.python_stack.most = depth;
}

void count_walk(const CopiedStack& stack) {
  if (stack.needs_register) count(LossCounter::host_stacks_register);
  if ((stack.flags & format::kStackNativeCut) != 0) count(LossCounter::host_stacks_cut);
}

// Adds the thread's Python frames as they are now, if the copied stack has them too.
void add_python(const Sampled& thread, const StackCopy& copy, const uint64_t* registers, uint32_t register_count,
                Frames& frames) {
  switch (read_python_outside(thread.handle, copy, frames.walked, registers, register_count, frames.python_stack)) {
    case PythonLook::None: break;
    case PythonLook::Moved:
      frames.python_stack.count = 0;
      frames.python_stack.flags = format::kStackNoPython;
      count(LossCounter::python_moved);
      break;
    case PythonLook::Outer: count(LossCounter::python_inner_moved); break;
    case PythonLook::Found: break;
  }
}

// The stack of a sample that the kernel took while the thread ran.
format::StackId stack_of(const Sampled& thread, const PerfRecord& record) {
  if (record.registers == nullptr) return {};
  const SampledRegisters& registers = *record.registers;
  const StackCopy copy{registers.sp(), record.stack, record.stack_bytes};
  Frames frames;
  prepare(frames);
  walk_copy(copy, {registers.pc(), registers.sp(), registers.fp()}, true, frames.walked);
  count_walk(frames.walked);
  add_python(thread, copy, registers.value, SampledRegisters::kCount, frames);
  return define_stack(frames, true);
}

// The stack of a thread that is blocked in `wait`. Its other registers are not known.
format::StackId stack_of(const Sampled& thread, const BlockedThread& wait) {
  const size_t bytes = read_outside(wait.sp, g_room->stack, sizeof g_room->stack);
  const StackCopy copy{wait.sp, g_room->stack, bytes};
  Frames frames;
  prepare(frames);
  walk_copy(copy, {wait.pc, wait.sp, 0}, false, frames.walked);
  add_python(thread, copy, nullptr, 0, frames);
  // If it ran meanwhile, what was read does not fit together.
  BlockedThread after;
  if (thread.perf.has_news() || look_at_thread(thread.tid, after) != ThreadLook::Blocked || !(after == wait)) {
    count(LossCounter::host_stacks_unreadable);
    return {};
  }
  count_walk(frames.walked);
  return define_stack(frames, true);
}

// Fills in what the thread waits for, as it is now.
void look_at_wait(Sampled& thread, const BlockedThread& wait) {
  char room[kWaitRoom];
  std::string_view detail;
  thread.blocked_in = wait_of(wait, room, detail);
  uint64_t holder = 0;
  if (thread.blocked_in == BlockedIn::Condition && is_python_gil(wait.arguments[0], holder)) {
    thread.blocked_in = BlockedIn::Gil;
    const uint32_t tid = holder == 0 ? 0 : tid_of_known_handle(holder);
    if (tid != 0 && tid != thread.tid) detail = holder_text(tid, room);
  }
  if (const uint32_t tid = thread_named_by(detail); tid != 0 && g_awaited_tid_count < kMostAwaitedThreads)
    g_awaited_tids[g_awaited_tid_count++] = tid;
  thread.detail = intern_string(detail);
  await_pipes(detail);
  thread.stack = stack_of(thread, wait);
  thread.wait = wait;
  // An id for one use cannot be used again.
  constexpr auto is_lasting = [](auto id) { return static_cast<uint32_t>(id) < format::kFirstOnceId; };
  thread.looked = is_lasting(thread.detail) && is_lasting(thread.stack);
}

void stop_thread(Sampled& thread) {
  if (thread.perf.is_open()) {
    thread.perf.close();
    --g_rings;
  }
  if (thread.other) --g_others;
  thread = {};
}

// The kernel has no such event for this thread: from now on it has samples from /proc only.
void do_without_perf(Sampled& thread, int error) {
  thread.since_ns = 0;
  if (!thread.without_perf) count(LossCounter::host_threads_without_perf);
  thread.without_perf = true;
  if (g_refused || g_rings != 0 || error == 0) return;
  g_refused = true;
  count(LossCounter::host_samples_unavailable);
  char text[96] = "perf_event_open is refused, error ";
  const size_t size = std::strlen(text);
  const Decimal digits(static_cast<uint64_t>(error));
  std::memcpy(text + size, digits.text().data(), digits.text().size());
  const std::string_view reason(text, size + digits.text().size());
  define_meta("host_samples", reason);
  static std::atomic<bool> said{false};
  say(said, "host samples are less exact: ", reason, "; threads are sampled through /proc only");
  format::HostSampling rate;
  rate.from = g_now.tick;
  rate.period_ns = g_period_ns;
  rate.flags = format::kHostWithoutPerf | (g_rate.starved ? format::kHostStarvedOnly : 0);
  define(rate);
}

void open_event(Sampled& thread) {
  const uint32_t most = thread.other ? kMostRings / 2 : kMostRings;  // threads that launch need some
  if (g_refused || g_rings >= most) return do_without_perf(thread, 0);
  const int error = thread.perf.open(thread.tid, with_jitter(g_period_ns));
  if (error == ESRCH) return;  // it has ended
  if (error != 0) return do_without_perf(thread, error);
  ++g_rings;
  thread.reopen_ns = g_now.ns + g_period_ns * kPeriodsOfEvent / 2 + random_below(g_period_ns * kPeriodsOfEvent);
}

void start_thread(Sampled& thread, const CallingThread& found, bool other = false) {
  thread = {};
  thread.other = other;
  thread.ordinal = found.ordinal;
  thread.tid = found.tid;
  thread.handle = found.handle;
  thread.present = true;
  open_event(thread);
  if (!thread.perf.is_open()) return;
  // The kernel records only changes.
  BlockedThread wait;
  const ThreadLook look = look_at_thread(thread.tid, wait);
  read_now();
  thread.since_ns = g_now.ns;
  thread.state = look == ThreadLook::Blocked ? HostState::Blocked : HostState::Running;
}

Sampled* free_slot() {
  for (uint32_t i = 0; i < g_used; ++i) {
    if (g_room->threads[i].ordinal == 0) return &g_room->threads[i];
  }
  return g_used < kMostThreads ? &g_room->threads[g_used++] : nullptr;
}

// Samples a thread that records nothing itself, if it is not sampled yet.
void start_other(uint32_t tid) {
  for (uint32_t i = 0; i < g_used; ++i) {
    if (g_room->threads[i].ordinal != 0 && g_room->threads[i].tid == tid) return;
  }
  if (g_others == kMostOthers) return count(LossCounter::host_threads_unsampled);
  char name[16];
  const long size = ProcPath("/proc/self/task/").add(uint64_t{tid}).add("/comm").read(name, sizeof name);
  if (size <= 0) return;  // it has ended
  Sampled* const free = free_slot();
  if (free == nullptr) return count(LossCounter::host_threads_unsampled);
  format::ThreadDef thread;
  thread.thread = format::ThreadOrdinal{take_thread_ordinal()};
  thread.tid = tid;
  thread.first_tick = now_ticks();
  thread.name = {name, static_cast<size_t>(name[size - 1] == '\n' ? size - 1 : size)};
  if (!define(thread)) return;
  ++g_others;
  const uint64_t handle = python_thread_with(tid, tid_of_known_handle);
  start_thread(*free, {static_cast<uint32_t>(thread.thread), tid, handle, false}, true);
}

// CPU time of a thread in ns; 0: not known.
uint64_t cpu_time_of(uint32_t tid) {
  char text[96] = {};
  const long size = ProcPath("/proc/self/task/").add(uint64_t{tid}).add("/schedstat").read(text, sizeof text);
  uint64_t ns = 0;
  for (long i = 0; i < size && text[i] >= '0' && text[i] <= '9'; ++i)
    ns = ns * 10 + static_cast<uint64_t>(text[i] - '0');
  return ns;
}

// Threads of a process without CUDA that run and record nothing themselves.
void search_other_threads() {
  for (uint32_t i = 0; i < g_used; ++i) {
    Sampled& each = g_room->threads[i];
    if (each.other && !ProcPath("/proc/self/task/").add(uint64_t{each.tid}).exists()) each.present = false;
  }
  if (!g_samples_others) return;
  const auto own = static_cast<uint32_t>(raw_call(SYS_gettid));
  const long directory = ProcPath("/proc/self/task").open(O_RDONLY | O_DIRECTORY);
  if (directory < 0) return;
  each_entry(directory, [&](const DirectoryEntry& entry) {
    uint32_t tid = 0;
    if (read_id(entry.name, tid) && tid != own && cpu_time_of(tid) >= kHasRun) start_other(tid);
    return g_others < kMostOthers;
  });
  raw_call(SYS_close, directory);
}

// Threads that are new or have ended.
void search_threads() {
  const uint32_t found = calling_threads(life().epoch.load(std::memory_order_relaxed), g_room->found, kMostThreads);
  const uint32_t listed = std::min(found, kMostThreads);
  uint32_t without_room = found - listed;
  Sampled* const threads = g_room->threads;
  for (uint32_t i = 0; i < g_used; ++i) threads[i].present = threads[i].other;
  for (uint32_t f = 0; f < listed; ++f) {
    const CallingThread& wanted = g_room->found[f];
    g_samples_others |= wanted.always_sampled;
    Sampled* free = nullptr;
    Sampled* there = nullptr;
    for (uint32_t i = 0; i < g_used && there == nullptr; ++i) {
      if (threads[i].ordinal == wanted.ordinal) there = &threads[i];
      if (threads[i].other && threads[i].tid == wanted.tid) stop_thread(threads[i]);  // it records since
      if (threads[i].ordinal == 0 && free == nullptr) free = &threads[i];
    }
    if (there != nullptr) {
      there->present = true;
      continue;
    }
    if (free == nullptr && g_used < kMostThreads) free = &threads[g_used++];
    if (free != nullptr) {
      start_thread(*free, wanted);
    } else {
      ++without_room;
    }
  }
  if (without_room <= g_without_room) return;
  count(LossCounter::host_threads_unsampled, without_room - g_without_room);
  g_without_room = without_room;
}

// Reads the records of the thread's ring.
void drain(Sampled& thread) {
  PerfRecord record;
  while (thread.perf.next(g_room->record, record)) {
    switch (record.kind) {
      case PerfRecord::Kind::Sample:
        if (record.registers == nullptr) break;
        if (g_rate.starved && !g_idle_gpu) break;
        write_sample(thread, record.time_ns, HostState::Running, BlockedIn::None, {}, stack_of(thread, record));
        break;
      case PerfRecord::Kind::Lost: count(LossCounter::host_samples_lost, record.lost); break;
      case PerfRecord::Kind::Other: break;
      default: {
        // While an event replaces another one, both have the same records.
        if (record.time_ns <= thread.last_ns) break;
        thread.last_ns = record.time_ns;
        if (record.time_ns < thread.since_ns) break;  // before the first look
        const HostState state = record.kind == PerfRecord::Kind::In        ? HostState::Running
                                : record.kind == PerfRecord::Kind::Blocked ? HostState::Blocked
                                                                           : HostState::Runnable;
        // It seemed to run when it was first looked at, but it waited for a CPU.
        if (state == HostState::Running && thread.state == HostState::Running) thread.state = HostState::Runnable;
        change_state(thread, record.time_ns, state);
        break;
      }
    }
  }
}

// Gives the event another period. What the kernel recorded until then is read first.
void reopen(Sampled& thread) {
  PerfThread old = thread.perf;
  thread.perf = {};
  --g_rings;
  open_event(thread);
  PerfThread fresh = thread.perf;
  thread.perf = old;
  drain(thread);
  thread.perf.close();
  thread.perf = fresh;
}

// The samples of a thread that does not run. False: the thread has ended.
bool sample_wait(Sampled& thread, uint32_t& looks) {
  const bool followed = thread.perf.is_open();
  if (g_moment_count == 0) return true;
  if (followed && (thread.state != HostState::Blocked || thread.looked)) {
    write_moments(thread, g_now.ns);
    return true;
  }
  if (g_rate.starved && !g_idle_gpu) return true;
  if (looks == kMostLooks) {
    count(LossCounter::host_samples_lost);
    return true;
  }
  if (!followed && g_moment_count > 1) count(LossCounter::host_samples_lost, g_moment_count - 1);
  ++looks;
  BlockedThread wait;
  switch (look_at_thread(thread.tid, wait)) {
    case ThreadLook::Ended: return false;
    case ThreadLook::Refused:  // after setuid, for example
      if (!followed) {
        count(LossCounter::host_samples_lost);
        return true;
      }
      thread.blocked_in = BlockedIn::None;
      thread.detail = {};
      thread.stack = {};
      thread.looked = true;
      write_moments(thread, g_now.ns);
      return true;
    case ThreadLook::Running:
      // With an event, it began to run after its ring was read.
      if (!followed) write_sample(thread, g_now.ns, HostState::Running, BlockedIn::None, {}, {});
      return true;
    case ThreadLook::Blocked: break;
  }
  if (followed || !thread.looked || !(thread.wait == wait)) look_at_wait(thread, wait);
  if (!followed) {
    write_sample(thread, g_now.ns, HostState::Blocked, thread.blocked_in, thread.detail, thread.stack);
    return true;
  }
  // The stack is that of this wait also if it cannot be used for later ones.
  const bool lasting = thread.looked;
  thread.looked = true;
  write_moments(thread, g_now.ns);
  thread.looked = lasting;
  return true;
}

void sample_all() {
  uint32_t looks = 0;
  if (g_used != 0) g_turn = (g_turn + 1) % g_used;
  for (uint32_t n = 0; n < g_used; ++n) {
    Sampled& thread = g_room->threads[(g_turn + n) % g_used];
    if (thread.ordinal == 0) continue;
    thread.moment = 0;
    drain(thread);
    const bool ended = !thread.present || !sample_wait(thread, looks);
    if (ended) {
      stop_thread(thread);
      continue;
    }
    if (!thread.perf.is_open()) continue;
    if (thread.since_ns != 0 && g_now.ns > thread.since_ns + kSpanEvery) {
      write_span(thread, thread.since_ns, g_now.ns, thread.state);
      thread.since_ns = g_now.ns;
    }
    if (g_now.ns >= thread.reopen_ns) reopen(thread);
  }
}

void define_rate(uint64_t period_ns) {
  format::HostSampling rate;
  rate.from = now_ticks();
  rate.period_ns = period_ns;
  rate.flags = (g_rate.starved ? format::kHostStarvedOnly : 0) | (g_refused ? format::kHostWithoutPerf : 0);
  define(rate);
}

// What prof ctl shows.
void show_rate(const option::HostRate& rate) {
  const auto word = static_cast<uint16_t>(rate.word());
  std::atomic_ref(g_log.counters()->control.samples).store(word, std::memory_order_release);
}

bool begin_sampling() {
  if (g_room == nullptr) {
    void* const memory =
        mmap(nullptr, sizeof(Room), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    g_room = static_cast<Room*>(memory);
  }
  for (uint32_t i = 0; i < g_used; ++i) g_room->threads[i] = {};
  g_used = g_rings = g_turn = g_others = 0;
  g_samples_others = false;
  g_others_ns = 0;
  g_records = g_search_ns = g_due_ns = 0;
  g_round_ns = ~0ull;
  g_without_room = 0;
  g_moment_count = 0;
  g_refused = false;
  forget_python_outside();
  forget_gpu_work();
  g_period_ns = kSecond / g_rate.hz;
  g_random = monotonic_ns() * 0x9e3779b97f4a7c15 | 1;
  forget_pipes();
  char room[64];
  define_meta("pid_namespace", ProcPath("/proc/self/ns/pid").link(room, sizeof room));
  if (!open_stacks_of_samples()) return false;
  mark_every_launch(g_rate.starved);
  define_rate(g_period_ns);
  show_rate(g_rate);
  return true;
}

// `records`: the log still takes what the kernel has.
void end_sampling(bool records) {
  if (records) {
    read_now();
    for (uint32_t i = 0; i < g_used; ++i) {
      Sampled& thread = g_room->threads[i];
      if (thread.ordinal == 0) continue;
      thread.moment = g_moment_count;
      drain(thread);
      if (thread.since_ns != 0) write_span(thread, thread.since_ns, g_now.ns, thread.state);
    }
    define_rate(0);
    show_rate({});
  }
  for (uint32_t i = 0; i < g_used; ++i) stop_thread(g_room->threads[i]);
}

void report_no_memory() {
  count(LossCounter::host_samples_unavailable);
  define_meta("host_samples", "no memory");
}

bool take_lock(uint64_t patience_ns) {
  const uint64_t until = monotonic_ns() + patience_ns;
  for (;;) {
    uint32_t free = 0;
    if (g_lock.compare_exchange_strong(free, 1, std::memory_order_acquire)) return true;
    if (monotonic_ns() >= until) return false;
    sleep_ns(200'000);
  }
}
void give_lock() { g_lock.store(0, std::memory_order_release); }

void find_moments() {
  g_moment_count = 0;
  if (g_now.ns < g_due_ns) return;
  uint64_t due = g_due_ns != 0 ? g_due_ns : g_now.ns;
  uint64_t next = due + with_jitter(g_period_ns);
  while (next <= g_now.ns && g_moment_count + 1 < kMostMoments) {
    g_moments[g_moment_count++] = due;
    due = next;
    next += with_jitter(g_period_ns);
  }
  g_moments[g_moment_count++] = g_now.ns;  // the last one that was due
  if (next <= g_now.ns) {
    count(LossCounter::host_samples_lost, (g_now.ns - next) / g_period_ns + 1);
    next = g_now.ns + with_jitter(g_period_ns);
  }
  g_due_ns = next;
}

uint64_t next_round_ns() { return std::min(g_due_ns, g_round_ns); }

// Whether the GPUs seem to wait for the program. If launches come one by one, whether the last one has finished is not
// known; then GPU times decide.
bool seems_starved() {
  const double busy = gpu_busy_share(g_now.ns);  // each round, so that it is of the last moments
  const GpuIdle idle = seems_idle(tick_of(g_now.ns - kQuiet));
  return idle == GpuIdle::Yes || (idle == GpuIdle::NotKnown && busy < kKeptBusy);
}

void sample_round() {
  read_now();
  if (g_rate.starved) {
    g_idle_gpu = seems_starved();
    if (g_period_ns > kRoundEvery) g_round_ns = g_now.ns + with_jitter(kRoundEvery);
  }
  if (g_now.ns >= g_search_ns) {
    search_threads();
    g_search_ns = g_now.ns + kSearchEvery * (1 + g_used / 64);
  }
  if (g_now.ns >= g_others_ns) {
    search_other_threads();
    g_others_ns = g_now.ns + kOthersEvery;
  }
  find_moments();
  g_awaited_tid_count = 0;
  sample_all();
  for (uint32_t i = 0; i < g_awaited_tid_count; ++i) start_other(g_awaited_tids[i]);
  search_pipe_holders(monotonic_ns());
}

}  // namespace

void open_host_samples() {
  g_rate = options().host_samples;
  g_sampling.store(g_rate.wanted() ? Sampling::Due : Sampling::Off, std::memory_order_release);
}

void switch_host_samples(const option::HostRate& rate) {
  const ThreadScope scope;
  if (!scope.recording() || !take_lock(kPatience)) return;
  Sampling now = g_sampling.load(std::memory_order_acquire);
  if (now != Sampling::Over && !(now == Sampling::On && rate == g_rate)) {
    if (now == Sampling::On) end_sampling(true);
    g_rate = rate;
    mark_every_launch(false);
    const bool begun = rate.wanted() && begin_sampling();
    // Another thread may end the recording meanwhile.
    if (g_sampling.compare_exchange_strong(now, begun ? Sampling::On : Sampling::Off, std::memory_order_acq_rel)) {
      if (begun) sample_round();
      if (rate.wanted() && !begun) report_no_memory();
    } else if (begun) {
      end_sampling(true);
    }
  }
  give_lock();
}

void tend_host_samples() {
  const Sampling sampling = g_sampling.load(std::memory_order_acquire);
  if (sampling == Sampling::Off || sampling == Sampling::Over) return;
  if (sampling == Sampling::On && monotonic_ns() < next_round_ns()) return;
  const ThreadScope scope;
  if (!scope.recording() || !take_lock(0)) return;
  Sampling expected = Sampling::Due;
  if (sampling == Sampling::Due && !begin_sampling()) {
    report_no_memory();
    g_sampling.compare_exchange_strong(expected, Sampling::Off, std::memory_order_acq_rel);
  } else if (sampling == Sampling::On ||
             g_sampling.compare_exchange_strong(expected, Sampling::On, std::memory_order_acq_rel)) {
    sample_round();
  }
  give_lock();
}

uint64_t next_host_samples(uint64_t) {
  return g_sampling.load(std::memory_order_acquire) == Sampling::On ? next_round_ns() : ~0ull;
}

void finish_host_samples() {
  const Sampling before = g_sampling.exchange(Sampling::Over, std::memory_order_acq_rel);
  if (before != Sampling::On) return;
  if (!take_lock(kPatience)) return;  // the helper thread is stopped; its events end with the process
  const ThreadScope scope;
  end_sampling(scope.recording());
  give_lock();
}

void abandon_host_samples() {
  g_sampling.store(Sampling::Off, std::memory_order_relaxed);
  g_lock.store(0, std::memory_order_relaxed);
  forget_pipes();
  if (g_room == nullptr) return;
  for (uint32_t i = 0; i < g_used; ++i) g_room->threads[i] = {};  // the kernel gave the child none of the mappings
  g_used = g_rings = g_others = 0;
}

}  // namespace prof::preload
