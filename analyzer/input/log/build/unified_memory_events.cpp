// A step of the builder, and words: what happened to managed memory. Not work of the program's: no launch is behind it, and it is no
// operation of a stream.
#include "analyzer/input/log/build/unified_memory_events.h"

#include "analyzer/input/log/build/stages.h"

#include <algorithm>

namespace prof::analyzer {

std::string_view unified_what_text(UnifiedWhat what) {
  switch (what) {
    case UnifiedWhat::ToDevice:
    case UnifiedWhat::ToHost:
    case UnifiedWhat::BetweenDevices: return "migration";
    case UnifiedWhat::CpuFault: return "CPU page fault";
    case UnifiedWhat::GpuFaults: return "GPU page faults";
    case UnifiedWhat::Thrashing: return "thrashing";
    case UnifiedWhat::Throttling: return "throttling";
    case UnifiedWhat::RemoteMap: return "remote map";
  }
  return "other";
}

std::string unified_place_text(uint32_t place) { return place == 0 ? "CPU" : "GPU " + std::to_string(place - 1); }

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
