#include "analyzer/model/unified_memory_text.h"

#include <algorithm>

namespace prof::analyzer {

namespace {

// CUPTI's kinds of copies, and nsys's for migrations.
UnifiedWhat direction_of(uint32_t copy_kind) {
  switch (copy_kind) {
    case 1:
    case 11: return UnifiedWhat::ToDevice;
    case 2:
    case 12: return UnifiedWhat::ToHost;
    default: return UnifiedWhat::BetweenDevices;
  }
}

UnifiedMemoryEvent event_of(const Trace& trace, const GpuOperation& migration) {
  const Device& device = trace.device(trace.stream(migration.stream()).device);
  UnifiedMemoryEvent event;
  event.start_ns = migration.start_ns, event.end_ns = migration.end_ns;
  event.value = migration.bytes;
  event.process = device.process;
  event.what = direction_of(migration.copy_kind());
  const uint32_t here = device.ordinal + 1;
  if (event.what != UnifiedWhat::ToDevice) event.source = migration.peer_source != 0 ? migration.peer_source : here;
  if (event.what != UnifiedWhat::ToHost)
    event.destination = migration.peer_destination != 0 ? migration.peer_destination : here;
  return event;
}

}  // namespace

std::vector<UnifiedMemoryEvent> managed_memory_events(const Trace& trace) {
  std::vector<UnifiedMemoryEvent> events(trace.unified.begin(), trace.unified.end());
  const size_t recorded = events.size();
  for (const GpuOperation& operation : trace.operations) {
    // A log has migrations in Trace::unified. A copy of managed memory without its launch is a copy there.
    if (operation.is_migration() && !trace.processes[index(trace.process_of(operation.stream()))].is_prof_log())
      events.push_back(event_of(trace, operation));
  }
  if (events.size() != recorded) {
    std::stable_sort(events.begin(), events.end(),
                     [](const UnifiedMemoryEvent& a, const UnifiedMemoryEvent& b) { return a.start_ns < b.start_ns; });
  }
  return events;
}

std::string_view no_managed_memory_text(const Trace& trace) {
  const bool any_log = std::any_of(trace.processes.begin(), trace.processes.end(),
                                   [](const Process& process) { return process.is_prof_log(); });
  return any_log ? "nothing about managed memory in the input: record with PROF_UNIFIED=on (--unified on)"
                 : "nothing about managed memory in the input";
}

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

}  // namespace prof::analyzer
