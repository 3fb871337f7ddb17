// When did the profiler that wrote a trace work itself? A trace has this work on threads of its own, so only the file
// relates it to a device. Used by gap_division.cpp and gaps.cpp.
#pragma once

#include "analyzer/base/intervals.h"
#include "analyzer/model/trace.h"

#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace prof::analyzer {

class ProfilerWork {
 public:
  explicit ProfilerWork(const Trace& trace) {
    std::map<std::string_view, std::vector<Interval>> of_file;
    for (const Range& range : trace.ranges) {
      if (range.kind == RangeKind::Overhead)
        of_file[source(trace, trace.thread(range.thread).process)].push_back({range.begin_ns, range.end_ns});
    }
    for (auto& [file, intervals] : of_file) of_file_.emplace(file, std::move(intervals));
  }
  // Null: there was none.
  const IntervalSet* of_device(const Trace& trace, DeviceId device) const {
    return of_process(trace, trace.device(device).process);
  }
  const IntervalSet* of_process(const Trace& trace, ProcessId process) const {
    if (of_file_.empty()) return nullptr;
    const auto found = of_file_.find(source(trace, process));
    return found == of_file_.end() ? nullptr : &found->second;
  }

 private:
  static std::string_view source(const Trace& trace, ProcessId process) {
    return trace.processes[index(process)].source;
  }
  std::map<std::string_view, IntervalSet> of_file_;
};

}  // namespace prof::analyzer
