#include "analyzer/analysis/call_role.h"

#include "analyzer/model/import.h"

namespace prof::analyzer {

CallRole call_role(std::string_view api) {
  const auto has = [&](std::string_view part) { return api.find(part) != std::string_view::npos; };
  if (has("Synchronize")) return CallRole::Synchronize;
  if (has("StreamWait") || has("CtxWaitEvent")) return CallRole::StreamWait;
  if (has("EventRecord") || has("CtxRecordEvent")) return CallRole::EventRecord;
  // A free node of a graph frees nothing when it is added.
  if (has("Free") && !has("Graph")) return CallRole::Free;
  switch (call_kind(api)) {
    case HostKind::KernelLaunch:
    case HostKind::GraphLaunch: return CallRole::Launch;
    case HostKind::MemoryLaunch: return CallRole::Copy;
    case HostKind::Allocation: return CallRole::Allocate;
    case HostKind::Call: break;
  }
  return CallRole::Other;
}

}  // namespace prof::analyzer
