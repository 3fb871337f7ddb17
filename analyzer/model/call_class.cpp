#include "analyzer/model/call_class.h"
#include "analyzer/base/text_parts.h"

namespace prof::analyzer {

namespace {

CallRole role_of(std::string_view api) {
  if (has(api, "Synchronize")) return CallRole::Synchronize;
  if (has(api, "StreamWaitValue")) return CallRole::ValueWait;
  if (has(api, "StreamWriteValue")) return CallRole::ValueWrite;
  if (has(api, "StreamBatchMemOp")) return CallRole::ValueBatch;
  if (has(api, "LaunchHostFunc") || has(api, "StreamAddCallback")) return CallRole::HostFunction;
  if (has(api, "StreamWait") || has(api, "CtxWaitEvent")) return CallRole::StreamWait;
  if (has(api, "EventRecord") || has(api, "CtxRecordEvent")) return CallRole::EventRecord;
  // Adding a free node to a graph frees nothing.
  if ((has(api, "Free") && !has(api, "Graph")) || has(api, "ArrayDestroy")) return CallRole::Free;
  switch (call_kind(api)) {
    case HostKind::KernelLaunch:
    case HostKind::GraphLaunch: return CallRole::Launch;
    case HostKind::MemoryLaunch: return CallRole::Copy;
    case HostKind::Allocation: return CallRole::Allocate;
    case HostKind::Call: break;
  }
  return CallRole::Other;
}

WaitScope scope_of(std::string_view api) {
  if (has(api, "StreamSynchronize")) return WaitScope::Stream;
  if (has(api, "EventSynchronize")) return WaitScope::Event;
  return has(api, "DeviceSynchronize") || has(api, "CtxSynchronize") || has(api, "ThreadSynchronize")
             ? WaitScope::Device
             : WaitScope::None;
}

}  // namespace

HostKind call_kind(std::string_view api) {
  const auto has = [&](std::string_view part) { return api.find(part) != std::string_view::npos; };
  if (has("GraphLaunch")) return HostKind::GraphLaunch;
  if (has("LaunchKernel") || has("LaunchCooperativeKernel") || has("ModuleLaunch") || api == "cudaLaunch" ||
      api == "cuLaunch" || api == "cuLaunchGrid" || api == "cuLaunchGridAsync")
    return HostKind::KernelLaunch;
  // "cudaGraphAddMemcpyNode" copies nothing.
  if ((has("Memcpy") || has("Memset")) && !has("Graph") && !has("GetAttribute")) return HostKind::MemoryLaunch;
  if (!has("Graph") && (has("Malloc") || has("MemAlloc") || has("HostAlloc") || has("ArrayCreate")))
    return HostKind::Allocation;
  return HostKind::Call;
}

CallTraits call_traits(std::string_view api) {
  CallTraits traits;
  traits.role = role_of(api);
  traits.asks_event = has(api, "EventQuery");
  traits.begins_capture = has(api, "StreamBeginCapture") || has(api, "StreamBeginRecapture");
  traits.ends_capture = has(api, "StreamEndCapture");
  if (has(api, "Graph")) return traits;  // adds a node and does nothing yet
  switch (traits.role) {
    case CallRole::Synchronize:
      traits.waits = scope_of(api);
      if (traits.waits != WaitScope::None) traits.kind = CallClass::Synchronization;
      break;
    case CallRole::StreamWait: traits.orders_stream = true; break;
    case CallRole::EventRecord: traits.records_event = true; break;
    case CallRole::ValueWait:
    case CallRole::ValueWrite:
    case CallRole::ValueBatch:
    case CallRole::HostFunction: break;
    case CallRole::Copy:
      // Asynchronous copies of pageable memory block, too. Their times show it, not their name.
      if (has(api, "Async") && !has(api, "Memcpy")) break;
      traits.kind = CallClass::MemoryLaunch;
      traits.waits = has(api, "Memcpy") ? WaitScope::OwnCopy : WaitScope::OwnFill;
      break;
    case CallRole::Allocate:
    case CallRole::Free: traits.kind = CallClass::Allocation; break;
    case CallRole::Launch: break;  // depends on what it launched
    case CallRole::Other:
      if (has(api, "HostRegister") || has(api, "HostUnregister")) traits.kind = CallClass::Allocation;
      break;
  }
  return traits;
}

CallTable::CallTable(const Trace& trace) {
  for (const StringId name : trace.apis) by_api_.push_back(call_traits(trace.text(name)));
}

}  // namespace prof::analyzer
