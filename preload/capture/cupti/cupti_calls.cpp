#include "preload/capture/cupti/cupti_calls.h"

#include "preload/capture/cupti/launching_calls.h"
#include "preload/log/count.h"
#include "preload/record/append.h"

#include <algorithm>

namespace prof::preload {

namespace {

constexpr uint32_t kRoughestUnit = 12;  // 2^12 ns: more would save nothing

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
    group.pairs[group.count++] = {record.start, record.correlationId};
    group.pairs[group.count++] = {record.end, record.correlationId};
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

// Every call contains a multiple of 2^unit ns: the first one at or after its start.
uint32_t CallRecords::round_up(Group& group) {
  const uint32_t unit = std::min(kRoughestUnit, 63 - static_cast<uint32_t>(__builtin_clzll(group.shortest + 1)));
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
  if (group.count != 0 && group.runtime) emit(format::RuntimeCalls{group.tid, {group.pairs, group.count}});
  if (group.count != 0 && !group.runtime) {
    const uint32_t unit = round_up(group);
    emit(format::DriverCalls{group.tid, {group.pairs, group.count, unit}});
  }
  group.count = 0;
}

uint64_t CallRecords::finish() {
  for (uint32_t i = 0; i < used_groups_; ++i) write(groups_[i]);
  return calls_;
}

}  // namespace prof::preload
