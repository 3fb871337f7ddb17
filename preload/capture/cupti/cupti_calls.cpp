#include "preload/capture/cupti/cupti_calls.h"

#include "preload/capture/cupti/launching_calls.h"
#include "preload/format/codec.h"
#include "preload/log/count.h"
#include "preload/record/append.h"

#include <algorithm>

namespace prof::preload {

namespace {

constexpr uint32_t kRoughestUnit = 12;  // 2^12 ns: more would save nothing
// Of spans, 2^8 ns: 63 units are 16 µs, and a launch that CUPTI does not report takes longer than one.
constexpr uint32_t kRoughestSpanUnit = 8;

// The largest unit of which every stretch of `ns` holds a multiple.
uint32_t unit_within(uint64_t ns) { return 63 - static_cast<uint32_t>(__builtin_clzll(ns + 1)); }

}  // namespace

void CallRecords::call(const CUpti_ActivityAPI& record) {
  const bool runtime = record.kind == CUPTI_ACTIVITY_KIND_RUNTIME;
  // Other calls belong to another profiler, or are here because every call is enabled.
  const bool launching = runtime
                             ? is_launching_runtime_call(record.cbid) || is_newer_launching_runtime_call(record.cbid)
                             : is_launching_driver_call(record.cbid);
  if (!launching) return;
  if (record.start == 0) {
    count(format::LossCounter::gpu_clock_errors);
    return;
  }
  Group& group = group_of(record.threadId, runtime);
  if (runtime) {
    add_span(group, record);
  } else {
    add_moment(group, record);
  }
  ++calls_;
  if (group.count == format::kMaxCallPairs) write(group);
}

// Stores the start and the length of the shortest call of the group. write() may choose another moment within that
// length.
void CallRecords::add_moment(Group& group, const CUpti_ActivityAPI& record) {
  if (group.count != 0 && record.start < group.pairs[group.count - 1].time) write(group);  // moments only grow
  const uint64_t length = record.end > record.start ? record.end - record.start : 0;
  group.shortest = group.count == 0 ? length : std::min(group.shortest, length);
  group.pairs[group.count++] = {record.start, record.correlationId};
}

void CallRecords::add_span(Group& group, const CUpti_ActivityAPI& record) {
  if (group.count != 0 && record.start < group.pairs[group.count - 1].time) write(group);  // spans do not overlap
  const uint64_t gap = group.count == 0 ? UINT64_MAX - 1 : record.start - group.pairs[group.count - 1].time;
  group.shortest = group.count == 0 ? gap : std::min(group.shortest, gap);
  group.pairs[group.count++] = {record.start, record.correlationId};
  group.pairs[group.count++] = {std::max(record.start, record.end), record.correlationId};
}

// Makes spans of equal length where possible. Every gap between two calls holds a multiple of 2^unit ns since the first
// start, so a span that is rounded outward ends before the next one starts. Then it may become as long as most others
// are, up to that start: the launch of another call is in no span but its own.
format::CallPairs CallRecords::widened(Group& group) {
  format::CallPair* const pairs = group.pairs;
  const uint32_t calls = group.count / 2;
  const uint32_t unit = std::min(kRoughestSpanUnit, unit_within(group.shortest));
  const uint64_t first = pairs[0].time;
  uint32_t lengths[format::kMaxCallPairs / 2] = {};
  for (uint32_t i = 0; i < calls; ++i) {
    uint64_t& start = pairs[2 * i].time;
    uint64_t& end = pairs[2 * i + 1].time;
    start = first + ((start - first) >> unit << unit);
    const uint64_t units = format::units_of(end - start, unit);
    if (i + 1 != calls) end = start + (units << unit);
    lengths[i] = static_cast<uint32_t>(std::min<uint64_t>(units, UINT32_MAX));
  }
  const uint32_t usual = calls - 1 - calls / 8;  // few are longer: a call waits if the GPU's queue is full
  std::nth_element(lengths, lengths + usual, lengths + calls);
  const uint64_t longer = static_cast<uint64_t>(lengths[usual]) << unit;
  for (uint32_t i = 0; i + 1 < calls; ++i) {
    const uint64_t end = pairs[2 * i].time + longer;
    if (pairs[2 * i + 1].time <= end && end <= pairs[2 * i + 2].time) pairs[2 * i + 1].time = end;
  }
  return {pairs, group.count, unit, lengths[usual]};
}

// Every call contains a multiple of 2^unit ns: the first one at or after its start.
uint32_t CallRecords::round_up(Group& group) {
  const uint32_t unit = std::min(kRoughestUnit, unit_within(group.shortest));
  const uint64_t below = (uint64_t{1} << unit) - 1;
  for (uint32_t i = 0; i < group.count; ++i) group.pairs[i].time = (group.pairs[i].time + below) & ~below;
  return unit;
}

CallRecords::Group& CallRecords::group_of(uint32_t tid, bool runtime) {
  for (uint32_t i = 0; i < used_groups_; ++i) {
    if (groups_[i].tid == tid && groups_[i].runtime == runtime) return groups_[i];
  }
  if (used_groups_ < kGroups) {
    groups_[used_groups_].tid = tid;
    groups_[used_groups_].runtime = runtime;
    groups_[used_groups_].count = 0;
    return groups_[used_groups_++];
  }
  Group& oldest = groups_[next_group_++ % kGroups];
  write(oldest);
  oldest.tid = tid;
  oldest.runtime = runtime;
  return oldest;
}

void CallRecords::write(Group& group) {
  if (group.count != 0 && group.runtime) emit(format::RuntimeCalls{group.tid, widened(group)});
  if (group.count != 0 && !group.runtime) {
    const uint32_t unit = round_up(group);
    emit(format::DriverCalls{group.tid, {group.pairs, group.count, unit, 0}});
  }
  group.count = 0;
}

uint64_t CallRecords::finish() {
  for (uint32_t i = 0; i < used_groups_; ++i) write(groups_[i]);
  return calls_;
}

}  // namespace prof::preload
