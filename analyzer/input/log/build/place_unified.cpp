// A step of the builder: collects events of managed memory. They have no launch and are no operations of a stream.
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
