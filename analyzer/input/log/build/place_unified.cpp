// A step of the builder: collects what happened to managed memory. No launch caused it, and it is no operation of a stream.
#include "analyzer/input/log/build/stages.h"

#include <algorithm>

namespace prof::analyzer {

void place_unified(const std::vector<LogInput>& inputs, std::vector<LogTask>& tasks, Trace& trace) {
  for (LogTask& task : tasks) {
    for (UnifiedMemoryEvent& event : task.unified) {
      event.process = inputs[task.log].process;
      trace.unified.push_back(event);
    }
    task.unified = {};
  }
  std::stable_sort(trace.unified.begin(), trace.unified.end(),
                   [](const UnifiedMemoryEvent& a, const UnifiedMemoryEvent& b) {
                     return a.process != b.process ? a.process < b.process : a.start_ns < b.start_ns;
                   });
}

}  // namespace prof::analyzer
