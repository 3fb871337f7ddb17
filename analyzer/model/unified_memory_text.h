// The names of events of managed memory (Trace::unified).
#pragma once

#include "analyzer/model/trace.h"

#include <string>
#include <string_view>

namespace prof::analyzer {

// "migration", "CPU page fault", …
std::string_view unified_what_text(UnifiedWhat what);
// "CPU", "GPU 0": for UnifiedMemoryEvent::source and ::destination.
std::string unified_place_text(uint32_t place);

}  // namespace prof::analyzer
