// How are CUPTI's records of driver and runtime calls written to the log? The (time, correlation id) pairs of one
// thread are collected and written together as DriverCalls and RuntimeCalls, with times that take few bytes.
// cupti_records.cpp uses it while it reads a completed buffer. It runs on the same thread and never allocates, locks or
// calls the driver.
#pragma once

#include "preload/capture/cupti/cupti_headers.h"
#include "preload/format/gpu_events.h"

#include <cstdint>

namespace prof::preload {

class CallRecords {
 public:
  void call(const CUpti_ActivityAPI& record);
  // Writes the groups that are not written yet. Returns the number of calls.
  uint64_t finish();

 private:
  // Driver or runtime calls of one thread that will be written together.
  struct Group {
    uint32_t tid;
    bool runtime;
    uint32_t count;
    uint64_t shortest;  // ns of the shortest driver call, or of the shortest gap between two runtime calls
    format::CallPair pairs[format::kMaxCallPairs];
  };
  static constexpr uint32_t kGroups = 8;
  static_assert(format::kMaxCallPairs % 2 == 0, "a runtime call is two pairs");

  static void add_moment(Group& group, const CUpti_ActivityAPI& record);
  static void add_span(Group& group, const CUpti_ActivityAPI& record);
  static uint32_t round_up(Group& group);
  static format::CallPairs widened(Group& group);
  Group& group_of(uint32_t tid, bool runtime);
  static void write(Group& group);

  uint64_t calls_ = 0;
  uint32_t used_groups_ = 0, next_group_ = 0;
  Group groups_[kGroups];  // [0, used_groups_) are set
};

}  // namespace prof::preload
