#include "analyzer/model/unified_memory_text.h"

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

}  // namespace prof::analyzer
