// Events of managed memory, and their names.
#pragma once

#include "analyzer/model/trace.h"

#include <string>
#include <string_view>
#include <vector>

namespace prof::analyzer {

// Events of managed memory, by start: Trace::unified, and the migrations that traces of other tools have as copies.
// These have no address (0).
std::vector<UnifiedMemoryEvent> managed_memory_events(const Trace& trace);

// A line for reports that have no row because there are no such events.
std::string_view no_managed_memory_text(const Trace& trace);

// "migration", "CPU page fault", …
std::string_view unified_what_text(UnifiedWhat what);
// "CPU", "GPU 0": for UnifiedMemoryEvent::source and ::destination.
std::string unified_place_text(uint32_t place);

}  // namespace prof::analyzer
