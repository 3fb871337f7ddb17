// Moves operations through time. See device.h for the states. Every function here is called with the device locked
// unless its name indicates otherwise. Host functions run on a thread of the driver and outside the lock, like the real
// driver's.
#include "tests/sim/device.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <thread>

#include "tests/sim/api_call.h"
#include "tests/sim/idleness.h"
#include "tests/sim/script.h"

namespace sim {
namespace {

struct ByEnd {
  bool operator()(const OperationPtr& a, const OperationPtr& b) const {
    return a->end != b->end ? a->end < b->end : a->sequence < b->sequence;
  }
};

struct Timeline {
  std::mutex mutex;
  std::condition_variable changed;
  std::set<OperationPtr, ByEnd> running;  // timed, not retired
  std::vector<OperationPtr> waiting;      // without times, in order of submission
  uint64_t next_sequence = 1, next_grid = 1;
  std::deque<OperationPtr> callbacks;
  bool callback_thread = false, device_thread = false;
  std::atomic<uint64_t> unfinished{0};
  std::atomic<CUresult> error{CUDA_SUCCESS};
};

Timeline& timeline() {
  static Timeline* const one = new Timeline;  // outlives static destructors: programs launch from theirs
  return *one;
}

bool instantaneous() { return clock_is_real() && !script().timed && activity_sink() == nullptr; }

void retire_until(Ns moment);

void run_callbacks() {
  Timeline& line = timeline();
  Lock lock(line.mutex);
  for (;;) {
    line.changed.wait(lock, [&] { return !line.callbacks.empty(); });
    const OperationPtr next = line.callbacks.front();
    line.callbacks.pop_front();
    lock.unlock();
    next->work.callback();
    lock.lock();
    next->called_back = true;
    retire_until(now_ns());
    line.changed.notify_all();
  }
}

bool dependencies_retired(const Operation& operation) {
  for (const OperationPtr& one : operation.after) {
    if (!one->retired) return false;
  }
  return true;
}

// The latest end of the kernels of a name that run, on any device.
Ns end_of_running(const std::string& name) {
  Ns latest = 0;
  for (const OperationPtr& one : timeline().running) {
    const OperationRecord& record = one->work.record;
    if (record.kind == OperationKind::Kernel && record.name == name) latest = std::max(latest, one->end);
  }
  return latest;
}

void set_times(const OperationPtr& operation, Ns not_before) {
  Ns start = std::max(operation->ready, not_before);
  Ns floor = 0;
  for (const OperationPtr& one : operation->after) {
    if (operation->work.overlaps && one->work.record.kind == OperationKind::Kernel) {
      start = std::max(start, one->start + (one->end - one->start) / 2);
      floor = std::max(floor, one->end);
    } else {
      start = std::max(start, one->end);
    }
  }
  if (operation->work.record.kind == OperationKind::Kernel) {
    const std::string& until = script().kernel(operation->work.record.name).until;
    if (!until.empty()) floor = std::max(floor, end_of_running(until) + operation->work.duration);
  }
  operation->start = start;
  operation->end = std::max(start + (instantaneous() ? 0 : operation->work.duration), floor);
  operation->timed = true;
  timeline().running.insert(operation);
}

// Gives times to operations whose dependencies have times. `moment` is the time of the last change.
void time_waiting(Ns moment) {
  std::vector<OperationPtr>& waiting = timeline().waiting;
  for (bool progress = true; progress;) {
    progress = false;
    for (size_t i = 0; i < waiting.size(); ++i) {
      const OperationPtr one = waiting[i];
      bool known = true;
      for (const OperationPtr& before : one->after) known = known && before->timed;
      if (!known) continue;
      Ns not_before = 0;
      if (one->work.condition) {
        // A wait for a value can end only after everything before it has ended and the value has been written.
        if (!dependencies_retired(*one) || !one->work.condition()) continue;
        not_before = moment;
      }
      waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(i));
      set_times(one, not_before);
      progress = true;
      break;
    }
  }
}

void report(const Operation& operation) {
  ActivitySink* sink = activity_sink();
  if (sink == nullptr || !operation.work.recorded || device_error() != CUDA_SUCCESS) return;
  switch (operation.work.record.kind) {
    case OperationKind::Kernel:
    case OperationKind::Memcpy:
    case OperationKind::Memset: {
      OperationRecord record = operation.work.record;
      record.start = operation.start;
      record.end = operation.end;
      sink->operation_done(record);
      break;
    }
    default: break;
  }
}

// One step: retires or posts the first operation that is ready, if it ends by `moment`.
bool retire_one(Ns moment) {
  Timeline& line = timeline();
  for (const OperationPtr& candidate : line.running) {
    if (candidate->end > moment) return false;
    if (!dependencies_retired(*candidate)) continue;
    const OperationPtr one = candidate;
    if (one->work.callback && !one->posted) {
      one->posted = true;
      line.callbacks.push_back(one);
      if (!line.callback_thread) {
        line.callback_thread = true;
        std::thread(run_callbacks).detach();
      }
      line.changed.notify_all();
      continue;
    }
    if (one->work.callback && !one->called_back) continue;
    line.running.erase(one);
    if (one->work.asserts) line.error.store(CUDA_ERROR_ASSERT);
    if (one->work.effect && line.error.load() == CUDA_SUCCESS) one->work.effect();
    one->retired = true;
    one->after.clear();
    line.unfinished.fetch_sub(1);
    if (one->on_retire) one->on_retire(*one);
    report(*one);
    Stream* stream = one->stream;
    while (stream != nullptr && !stream->pending.empty() && stream->pending.front()->retired)
      stream->pending.pop_front();
    time_waiting(one->end);
    line.changed.notify_all();
    return true;
  }
  return false;
}

void retire_until(Ns moment) {
  if (timeline().unfinished.load() == 0) return;
  time_waiting(moment);
  while (retire_one(moment)) {}
}

// The end of the operation that retires next, if only time has to pass for it.
bool next_end(Ns* end) {
  for (const OperationPtr& one : timeline().running) {
    if (one->posted || !dependencies_retired(*one)) continue;
    *end = one->end;
    return true;
  }
  return false;
}

void catch_up() {
  Lock lock(timeline().mutex);
  Ns end = 0;
  while (next_end(&end)) {
    advance_to_ns(end);
    retire_until(now_ns());
  }
}

// Real clock: operations finish on time even if no call is made.
void watch_on_real_clock() {
  for (;;) {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    if (timeline().unfinished.load() == 0) continue;
    Lock lock(timeline().mutex);
    retire_until(now_ns());
  }
}

// Virtual clock: operations also finish if the program has stopped calling the driver. The program is idle if all its
// threads sleep in ten successive checks, or if it spins on memory (five times as much processor time without a call).
void watch_for_idleness() {
  constexpr unsigned kLooks = 10, kSpinning = 5;
  const Ns idle_ns = script().idle_ms * 1'000'000;
  Ns last = 0, busy_since = processor_time();
  unsigned sleeping = 0;
  for (;;) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(std::max<Ns>(idle_ns / kLooks, 1000)));
    const Ns now = now_ns();
    if (timeline().unfinished.load() == 0 || now != last) {
      last = now;
      sleeping = 0;
      busy_since = processor_time();
      continue;
    }
    sleeping = all_others_sleep() ? sleeping + 1 : 0;
    if (sleeping < kLooks && processor_time() - busy_since < kSpinning * idle_ns) continue;
    catch_up();
    last = now_ns();
    sleeping = 0;
    busy_since = processor_time();
  }
}

OperationPtr add(Stream* stream, Work work, std::vector<OperationPtr> after, Ns ready) {
  Timeline& line = timeline();
  const OperationPtr one = std::make_shared<Operation>();
  one->sequence = line.next_sequence++;
  one->stream = stream;
  one->after = std::move(after);
  one->ready = ready;
  one->work = std::move(work);
  OperationRecord& record = one->work.record;
  record.device = static_cast<uint32_t>(stream->context->device->ordinal);
  record.context_id = stream->context->id;
  record.stream_id = stream->cupti_id;
  if (record.correlation == 0) record.correlation = current_correlation();
  record.queued = now_ns();
  record.grid_id = line.next_grid++;
  line.unfinished.fetch_add(1);
  line.waiting.push_back(one);
  stream->pending.push_back(one);
  time_waiting(now_ns());
  if (instantaneous()) {
    retire_until(UINT64_MAX);
  } else if (!line.device_thread && (clock_is_real() || script().idle_ms != 0)) {
    line.device_thread = true;
    std::thread(clock_is_real() ? watch_on_real_clock : watch_for_idleness).detach();
  }
  return one;
}

}  // namespace

void take_first_call_time(FirstCall which) {
  struct First {
    std::mutex mutex;
    std::atomic<bool> over{false};
  };
  static auto* const firsts = new First[2];
  First& first = firsts[static_cast<size_t>(which)];
  if (first.over.load(std::memory_order_acquire)) return;
  std::lock_guard<std::mutex> lock(first.mutex);
  if (first.over.load(std::memory_order_relaxed)) return;
  if (other_threads()) std::this_thread::sleep_for(std::chrono::milliseconds(script().first_call_ms));
  first.over.store(true, std::memory_order_release);
}

CUresult device_error() { return timeline().error.load(); }

std::mutex& device_mutex() { return timeline().mutex; }

Ns ready_time() { return now_ns() + rest_of_call_ns() + (script().early_start ? 0 : script().launch_latency); }

std::vector<OperationPtr> stream_dependencies_locked(Stream* stream) {
  std::vector<OperationPtr> after;
  const auto depend = [&](Stream* on) {
    if (on != nullptr && on->tail != nullptr && !on->tail->retired) after.push_back(on->tail);
  };
  depend(stream);
  const bool blocking = (stream->flags & CU_STREAM_NON_BLOCKING) == 0;
  if (stream->kind == Stream::Kind::Legacy) {
    for (Stream* other : stream->context->streams) {
      if ((other->flags & CU_STREAM_NON_BLOCKING) == 0) depend(other);
    }
    for (const auto& [thread, other] : stream->context->per_thread) depend(other);
  } else if (blocking) {
    depend(stream->context->legacy);
  }
  return after;
}

void adopt_tail_locked(Stream* stream, OperationPtr operation) { stream->tail = std::move(operation); }

OperationPtr submit_locked(Lock& lock, Stream* stream, Work work, std::vector<OperationPtr> extra) {
  limit_outstanding(lock, stream);
  std::vector<OperationPtr> after = stream_dependencies_locked(stream);
  after.insert(after.end(), extra.begin(), extra.end());
  const OperationPtr one = add(stream, std::move(work), std::move(after), ready_time());
  stream->tail = one;
  return one;
}

OperationPtr submit_in_graph_locked(Stream* stream, Work work, std::vector<OperationPtr> after, Ns ready) {
  return add(stream, std::move(work), std::move(after), ready);
}

void wait_for(Lock& lock, OperationPtr operation) {
  if (operation == nullptr) return;
  Timeline& line = timeline();
  while (!operation->retired) {
    retire_until(now_ns());
    if (operation->retired) return;
    Ns end = 0;
    if (next_end(&end)) {
      if (clock_is_real()) {
        lock.unlock();
        advance_to_ns(end);
        lock.lock();
      } else {
        advance_to_ns(end);
      }
      retire_until(now_ns());
    } else {
      // A host function is running, or the program must write the awaited value: only wall time helps.
      line.changed.wait_for(lock, std::chrono::milliseconds(1));
    }
  }
}

void wait_for_stream(Lock& lock, Stream* stream) {
  wait_for(lock, stream->tail);
  if (stream->kind != Stream::Kind::Legacy) return;
  for (const OperationPtr& one : stream_dependencies_locked(stream)) wait_for(lock, one);
}

void wait_for_context(Lock& lock, Context* context) {
  std::vector<OperationPtr> tails{context->legacy->tail};
  for (Stream* one : context->streams) tails.push_back(one->tail);
  for (const auto& [thread, one] : context->per_thread) tails.push_back(one->tail);
  for (const OperationPtr& one : tails) wait_for(lock, one);
}

void wait_for_everything(Lock& lock) {
  for (Context* one : all_contexts()) wait_for_context(lock, one);
}

void limit_outstanding(Lock& lock, Stream* stream) {
  const uint64_t limit = script().max_outstanding;
  while (limit != 0 && stream->pending.size() >= limit) wait_for(lock, stream->pending.front());
}

void settle_device() {
  if (timeline().unfinished.load(std::memory_order_acquire) == 0) return;
  Lock lock(timeline().mutex);
  retire_until(now_ns());
}

}  // namespace sim
