#include "analyzer/dependencies/dependencies.h"

#include "analyzer/base/prefault.h"
#include "analyzer/dependencies/awaited_events.h"
#include "analyzer/dependencies/calls_by_time.h"
#include "analyzer/dependencies/full_queue_waits.h"
#include "analyzer/dependencies/value_waits.h"
#include "analyzer/model/call_class.h"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <utility>

namespace prof::analyzer {

namespace {

// If a trace does not name the awaited stream, at most this many streams are checked.
constexpr size_t kStreamsLookedAt = 64;
constexpr uint32_t kNonBlockingStream = 1;                   // CU_STREAM_NON_BLOCKING
constexpr uint32_t kLegacyStream = 0, kPerThreadStream = 1;  // format::StreamType

class Finder {
 public:
  Finder(const Trace& trace, Dependencies& to)
      : trace_(trace), to_(to), calls_(trace), values_(trace), events_(trace), full_(trace) {}

  void run() {
    find_operations_of_launches();
    memory_ops_.resize(trace_.memory_ops.size());
    streams_.resize(trace_.streams.size() + trace_.host_streams.size());
    recent_.resize(trace_.processes.size());
    for (CallsByTime order(trace_); !order.done();) call(order.next());
    find_waits_for_values();
    full_.find_waits(to_);
    const auto by_waiter = [](const Wait& a, const Wait& b) {
      return a.waiter != b.waiter ? a.waiter < b.waiter : a.operation < b.operation;
    };
    std::sort(to_.of_calls.begin(), to_.of_calls.end(), by_waiter);
    std::sort(to_.of_operations.begin(), to_.of_operations.end(), by_waiter);
    std::sort(to_.unknown_operations.begin(), to_.unknown_operations.end());
  }

 private:
  struct StreamNow {
    uint32_t launched = kNone;     // its latest launched operation
    uint32_t seen_legacy = kNone;  // the legacy stream's operation after which it was last ordered
    bool recent = false;           // in recent_
    bool dirty = false;            // in Context::dirty
    bool unknown = false;          // the next operation launched into it waits for something unknown
    std::vector<uint32_t> waits;   // for the next operation launched into it
    std::vector<uint32_t> values;  // rows of Trace::memory_ops for which that operation waits
  };
  // For a write: the operation that its stream ran before it. For a wait: the operation that its stream ran after it.
  struct MemoryOp {
    uint32_t operation = kNone;
    bool wanted = false;  // a wait that is followed by an operation
  };
  struct Context {
    uint32_t legacy = kNone;      // latest operation of the legacy stream
    std::vector<uint32_t> dirty;  // blocking streams with launches since then
  };
  int64_t end_of(uint32_t operation) const { return trace_.operations[operation].last_ns(); }
  // Returns the operation launched last into a stream.
  auto latest() const {
    return [this](uint32_t stream) { return streams_[stream].launched; };
  }

  void find_operations_of_launches() {
    first_.resize(trace_.host.size());
    last_.resize(trace_.host.size());
    write_pages(first_);
    write_pages(last_);
    for (uint32_t row = 0; row < trace_.operations.size(); ++row) {
      const GpuOperation& operation = trace_.operations[row];
      if (!operation.linked()) continue;
      // 0 is "none", so row + 1 is stored.
      uint32_t &first = first_[operation.launch], &last = last_[operation.launch];
      if (first == 0 || operation.start_ns < trace_.operations[first - 1].start_ns) first = row + 1;
      if (last == 0 || end_of(row) > end_of(last - 1)) last = row + 1;
    }
  }

  void call(uint32_t row) {
    const HostEvent& event = trace_.host[row];
    const CallTraits traits = calls_.of(event);
    if (event.is_launch()) launch(row, event, traits);
    if (uses_value(traits.role)) use_values(row, event);
    if (traits.begins_capture || traits.ends_capture) capture(event, traits.begins_capture);
    if (traits.records_event) events_.record(row, event, stream_key(event), latest());
    if (traits.orders_stream) order(row, event);
    if (traits.role == CallRole::HostFunction) next_waits_for_unknown(stream_key(event));
    if (traits.kind == CallClass::Synchronization && event.result() == 0) synchronize(row, event, traits.waits);
  }

  uint32_t process_index(const HostEvent& event) const { return index(trace_.thread(event.thread).process); }
  bool from_log(const HostEvent& event) const { return trace_.process_of(event).is_prof_log(); }

  // Index into streams_: the GPU's stream if it is known, else the handle's own entry. kNone: unknown.
  uint32_t stream_key(const HostEvent& event) const {
    const uint32_t handle = index(event.stream);
    if (handle == 0 || handle >= trace_.host_streams.size()) return kNone;
    const uint32_t stream = trace_.host_streams[handle].stream;
    return stream != kNone ? stream : static_cast<uint32_t>(trace_.streams.size()) + handle;
  }

  void launch(uint32_t row, const HostEvent& event, const CallTraits& traits) {
    if (last_[row] == 0) return;
    const uint32_t operation = last_[row] - 1, first = first_[row] - 1;
    const uint32_t gpu_stream = trace_.operations[operation].stream_index;
    uint32_t key = stream_key(event);
    if (key == kNone) key = gpu_stream;
    StreamNow& stream = streams_[key];
    for (const uint32_t dependency : std::exchange(stream.waits, {})) operation_waits(first, dependency);
    for (const uint32_t op : std::exchange(stream.values, {})) memory_ops_[op] = {first, true};
    if (std::exchange(stream.unknown, false)) to_.unknown_operations.push_back(first);
    if (from_log(event)) order_behind_legacy(event, key, first, operation);
    if (key < trace_.streams.size()) full_.launch(row, key, stream.launched);
    stream.launched = operation;
    touch(process_index(event), key);
    if (gpu_stream != key) {
      streams_[gpu_stream].launched = operation;
      touch(process_index(event), gpu_stream);
    }
    // If the call may wait for its own copy, and the copy had ended when the call returned, the call waited for it.
    if (may_wait_for(traits, trace_.operations[operation]) && end_of(operation) <= event.end_ns)
      to_.of_calls.push_back({row, operation});
  }

  static bool may_wait_for(const CallTraits& traits, const GpuOperation& operation) {
    return traits.waits == WaitScope::OwnCopy || touches_pageable(operation) ||
           (traits.waits == WaitScope::OwnFill && operation.kind() == GpuKind::Fill &&
            host_sees(operation.memory_kind()));
  }

  // Memsets of device memory return at once, even if their function is documented as synchronous.
  static bool host_sees(uint32_t memory_kind) {
    constexpr uint32_t kPinned = 2, kManaged = 5, kManagedStatic = 7;  // CUPTI's memory kinds
    return memory_kind == kPinned || memory_kind == kManaged || memory_kind == kManagedStatic;
  }

  static bool touches_pageable(const GpuOperation& operation) {
    constexpr uint32_t kPageable = 1;  // CUPTI's memory kind
    return operation.kind() == GpuKind::Copy && operation.touches_memory(kPageable);
  }

  void operation_waits(uint32_t waiter, uint32_t dependency, uint32_t legacy = 0) {
    if (trace_.operations[dependency].stream_index == trace_.operations[waiter].stream_index) return;
    if (end_of(dependency) > trace_.operations[waiter].start_ns) {
      ++to_.contradicted;
      to_.unknown_operations.push_back(waiter);
    } else {
      to_.of_operations.push_back({waiter, dependency, legacy});
    }
  }

  // The legacy default stream waits for earlier launches into all blocking streams of its context, and these streams
  // wait for it.
  void order_behind_legacy(const HostEvent& event, uint32_t key, uint32_t first, uint32_t operation) {
    const HostStream& handle = trace_.host_streams[index(event.stream)];
    if (index(event.stream) == 0) return;
    Context& context = contexts_[{process_index(event), handle.context_handle}];
    if (handle.type == kLegacyStream) {
      for (const uint32_t other : std::exchange(context.dirty, {})) {
        streams_[other].dirty = false;
        if (other != key) operation_waits(first, streams_[other].launched, 1);
      }
      context.legacy = operation;
      return;
    }
    if (handle.type != kPerThreadStream && (handle.flags & kNonBlockingStream) != 0) return;
    StreamNow& stream = streams_[key];
    if (context.legacy != kNone && stream.seen_legacy != context.legacy) operation_waits(first, context.legacy, 1);
    stream.seen_legacy = context.legacy;
    if (!std::exchange(stream.dirty, true)) context.dirty.push_back(key);
  }

  void capture(const HostEvent& event, bool begins) {
    const uint32_t key = stream_key(event);
    if (key == kNone) return;
    if (!begins) return events_.end_capture(key);
    if (event.result() == 0) events_.begin_capture(key);
  }

  void use_values(uint32_t row, const HostEvent& event) {
    const uint32_t key = stream_key(event);
    if (key == kNone) return;
    for (const uint32_t op : values_.of_call(row)) {
      if (trace_.memory_ops[op].writes()) {
        memory_ops_[op].operation = streams_[key].launched;
      } else if (trace_.memory_ops[op].waits()) {
        streams_[key].values.push_back(op);
      }
    }
  }

  // An operation after a wait waited at least for the operation before the earliest write that may have ended the wait.
  void find_waits_for_values() {
    for (uint32_t wait = 0; wait < memory_ops_.size(); ++wait) {
      if (!trace_.memory_ops[wait].waits() || !memory_ops_[wait].wanted) continue;
      const std::span<const uint32_t> writes = values_.writes_for(wait);
      uint32_t first = kNone;
      bool at_once = false;  // one of the writes had no operation before it
      for (const uint32_t write : writes) {
        const uint32_t operation = memory_ops_[write].operation;
        if (operation == kNone) {
          at_once = true;
        } else if (first == kNone || end_of(operation) < end_of(first)) {
          first = operation;
        }
      }
      if (writes.empty()) {
        ++to_.unknown;
        to_.unknown_operations.push_back(memory_ops_[wait].operation);
      }
      if (first != kNone && !at_once) operation_waits(memory_ops_[wait].operation, first);
    }
  }

  void next_waits_for_unknown(uint32_t key) {
    if (key != kNone) streams_[key].unknown = true;
  }

  void order(uint32_t row, const HostEvent& event) {
    uint32_t key = stream_key(event);
    if (const SyncEvent* const sync = events_.reported(row); key == kNone && sync != nullptr) key = sync->stream;
    if (from_log(event) && event.subject != 0) {
      const EventMarks::Wait wait = key == kNone ? EventMarks::Wait::Unknown : events_.wait(event, key);
      if (wait == EventMarks::Wait::Unknown) {
        ++to_.unknown;
        next_waits_for_unknown(key);
      }
      if (wait != EventMarks::Wait::ForOperation) return;
    }
    const uint32_t operation = events_.operation(row, event, latest());
    if (key == kNone || operation == kNone) return;
    std::vector<uint32_t>& waits = streams_[key].waits;
    if (waits.empty() || waits.back() != operation) waits.push_back(operation);
  }

  void synchronize(uint32_t row, const HostEvent& event, WaitScope scope) {
    uint32_t key = stream_key(event);
    if (const SyncEvent* const sync = events_.reported(row); sync != nullptr) {
      if (sync->kind == SyncKind::Stream) {
        scope = WaitScope::Stream;
        key = sync->stream;
      }
      if (sync->kind == SyncKind::Event) scope = WaitScope::Event;
      if (sync->kind == SyncKind::Context) scope = WaitScope::Device;
    }
    if (scope == WaitScope::Device) return wait_for_all(row, event);
    const uint32_t operation = scope == WaitScope::Event ? events_.operation(row, event, latest())
                               : key == kNone            ? kNone
                                                         : streams_[key].launched;
    if (operation != kNone) {
      call_waits(row, event, operation);
    } else if (!from_log(event)) {
      infer(row, event);
    }
  }

  bool call_waits(uint32_t row, const HostEvent& event, uint32_t operation) {
    if (end_of(operation) > event.end_ns) {
      ++to_.contradicted;
      return false;
    }
    to_.of_calls.push_back({row, operation});
    return true;
  }

  // Streams of the process with operations that a later synchronisation may wait for, without duplicates.
  void touch(uint32_t process, uint32_t key) {
    if (!std::exchange(streams_[key].recent, true)) recent_[process].push_back(key);
  }

  // If a stream's operations had ended before the call began, or had not ended when it returned, later calls of this
  // kind ignore them.
  void wait_for_all(uint32_t row, const HostEvent& event) {
    std::vector<uint32_t>& recent = recent_[process_index(event)];
    std::erase_if(recent, [&](uint32_t key) {
      StreamNow& stream = streams_[key];
      if (!same_context(event, key)) return false;
      const int64_t end = end_of(stream.launched);
      const bool waited = call_waits(row, event, stream.launched);
      if (waited && end > event.begin_ns) return false;
      stream.recent = false;
      return true;
    });
  }

  // Logs have the context that was synchronised if the call names it.
  bool same_context(const HostEvent& event, uint32_t key) const {
    if (!from_log(event) || event.subject == 0 || key < trace_.streams.size()) return true;
    return trace_.host_streams[key - trace_.streams.size()].context_handle == event.subject;
  }

  // The trace does not show what the call waited for: assumes the operation that ended last during the call.
  void infer(uint32_t row, const HostEvent& event) {
    const std::vector<uint32_t>& recent = recent_[process_index(event)];
    uint32_t best = kNone;
    for (size_t i = recent.size(); i-- > 0 && recent.size() - i <= kStreamsLookedAt;) {
      const uint32_t operation = streams_[recent[i]].launched;
      const int64_t end = end_of(operation);
      if (end <= event.begin_ns || end > event.end_ns) continue;
      if (best == kNone || end > end_of(best)) best = operation;
    }
    if (best == kNone) return;
    ++to_.inferred;
    to_.of_calls.push_back({row, best});
  }

  const Trace& trace_;
  Dependencies& to_;
  CallTable calls_;
  Column<uint32_t> first_, last_;  // by launch: the operation that started first, that ended last; row + 1
  ValueWaits values_;
  std::vector<MemoryOp> memory_ops_;  // by row of Trace::memory_ops
  AwaitedEvents events_;
  std::unordered_map<HandleKey, Context, HandleHash> contexts_;
  std::vector<StreamNow> streams_;             // GPU streams, then handles whose GPU stream is unknown
  std::vector<std::vector<uint32_t>> recent_;  // by process
  FullQueueWaits full_;
};

}  // namespace

Dependencies::Dependencies(const Trace& trace) {
  Finder(trace, *this).run();
  handoffs = find_handoffs(trace);
  for (const Thread& thread : trace.threads) {
    Interval& all = ranges.emplace_back(kNoRanges);
    for (uint32_t row = thread.ranges.first; row < thread.ranges.last; ++row) {
      const Range& range = trace.ranges[row];
      if (range.kind == RangeKind::Overhead) continue;
      all.begin_ns = std::min(all.begin_ns, range.begin_ns);
      all.end_ns = std::max(all.end_ns, range.end_ns);
    }
  }
}

}  // namespace prof::analyzer
