// Ranges that may start on one thread and end on another: NVTX start/end by id, waiting for and holding synchronisation
// objects, and ranges whose times were submitted later. They are part of no path. Part of the third step of the
// builder.
#pragma once

#include "analyzer/input/log/build/made_labels.h"
#include "analyzer/input/log/build/range_payloads.h"

#include <vector>

namespace prof::analyzer {

class StartEndRanges {
 public:
  StartEndRanges(Trace& trace, MadeLabels& labels, RangePayloads& values)
      : trace_(trace), labels_(labels), payloads_(values) {}

  void start(uint64_t id, const Range& range) { started_.push_back({id, range}); }
  void end(uint64_t id, int64_t time_ns, ThreadId thread, uint32_t values) {
    ended_.push_back({id, time_ns, thread, values});
  }
  void add_whole(const Range& range) { started_.push_back({0, range, true}); }
  void sync(uint64_t object, format::SyncAction action, const Range& at) {
    synced_.push_back({at.begin_ns, object, action, at});
  }

  // Called when all records of the process were passed: matches its ranges and writes them after its push/pop ranges,
  // sorted by start.
  void end_process(Process& process);

 private:
  struct Started {
    uint64_t id;
    Range range;
    bool ended = false;
    ThreadId ended_by{};
  };
  struct Ended {
    uint64_t id;
    int64_t time_ns;
    ThreadId thread;
    uint32_t values;  // row of Trace::payloads
  };
  struct Synced {
    int64_t time_ns;
    uint64_t object;
    format::SyncAction action;
    Range range;
  };

  static void finish(Started& started, int64_t end_ns, ThreadId by);
  void match_ends(Process& process);
  void match_sync(Process& process);
  void leave_out_before_horizon(const Process& process);
  void write(Process& process);

  Trace& trace_;
  MadeLabels& labels_;
  RangePayloads& payloads_;
  std::vector<Started> started_;
  std::vector<Ended> ended_;
  std::vector<Synced> synced_;
};

}  // namespace prof::analyzer
