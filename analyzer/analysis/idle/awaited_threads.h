// For which thread did a sampled thread wait, and what did that one do meanwhile? Used by every report that shows host
// samples of gaps. A wait counts if a host sample of it names what was waited for:
//
//   "pipe:[7]", "socket:[8]"   the processes that have the other end open, as the log of the waiting process lists them
//   "held by thread 7"         the owner of a lock
//   "end of thread 7"          the thread that was joined
//
//   waiting thread  ──blocked in read(pipe:[7])──────────────────|       a wait
//   worker          ─decode──────────────────────|─write(pipe)───|       its samples inside the wait are summed
//
// Several processes may have one pipe open: each is an awaited one. If a process has no log among the inputs, it is
// named, and nothing is charged. The same holds if the thread waits on a condition while another thread of its process
// waits for the pipe: that the other one wakes it is not proven.
#pragma once

#include "analyzer/analysis/idle/host_code_times.h"
#include "analyzer/analysis/views.h"
#include "analyzer/base/intervals.h"
#include "analyzer/model/trace.h"

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace prof::analyzer {

struct Awaited {
  uint32_t thread = kNone;  // row of Trace::threads; kNone: the log of the process is not in the input
  uint32_t holder = kNone;  // row of HostSampling::holders that proves it; kNone: the thread is of the same process
  bool proven = true;       // false: another thread waited for the holder; `thread` is kNone
};

// "no log in the input": why nothing is known of what an awaited process did. It has no `thread`.
std::string_view why_not_charged(const Awaited& awaited);

// "thread 501"; "process 43 (python3 worker.py)", with its thread if that is not the first one.
std::string awaited_text(const Trace& trace, const Awaited& awaited);

// Whether a host sample names a thread, or a process that has the other end of a pipe open.
bool any_awaited(const Trace& trace);

// Not thread-safe.
class AwaitedThreads {
 public:
  AwaitedThreads(const Trace& trace, const Views& views) : trace_(trace), rows_(host_sample_rows(views)) {}

  // Calls take(part, awaited) for the parts of an interval in which the thread waited for known ones.
  void each(uint32_t thread, const Interval& interval,
            const std::function<void(const Interval&, std::span<const Awaited>)>& take);

 private:
  // Whom a thread waits for that is blocked so.
  const std::vector<Awaited>& named_by(uint32_t thread, StringId detail);
  std::vector<Awaited> find(uint32_t thread, StringId detail) const;
  void add_holders(uint32_t thread, std::string_view pipe, std::vector<Awaited>& to) const;
  const std::vector<Awaited>* of_samples(uint32_t thread, Rows samples);
  // Processes for which other threads of the process waited in an interval, if the thread waited on a condition.
  std::vector<Awaited> of_other_threads(uint32_t thread, const Interval& interval, Rows samples);

  const Trace& trace_;
  const HostSampleRows& rows_;
  std::map<std::pair<uint32_t, uint32_t>, std::vector<Awaited>> named_;  // by thread and detail
};

// What awaited threads did, summed over intervals of waiting threads.
class AwaitedTimes {
 public:
  AwaitedTimes(const Trace& trace, const Views& views)
      : trace_(trace), rows_(host_sample_rows(views)), threads_(trace, views) {}

  // Adds the waits in an interval of a thread. Intervals must not overlap each other on their thread.
  void add(uint32_t thread, const Interval& interval);
  void clear();

  struct Sum {
    Awaited who;
    int64_t waited_ns = 0;  // for this one
    HostCodeTimes times;    // what the awaited thread did meanwhile; empty if its log is not in the input
  };
  // The longest waits first. Sums with a log come before those without one.
  std::vector<const Sum*> sums() const;

 private:
  const Trace& trace_;
  const HostSampleRows& rows_;
  AwaitedThreads threads_;
  std::vector<Sum> sums_;
  std::map<std::pair<std::string, bool>, size_t> unlogged_;  // text and `proven` -> index of sums_
  std::map<uint32_t, size_t> of_thread_;                     // -> index of sums_
};

}  // namespace prof::analyzer
