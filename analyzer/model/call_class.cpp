#include "analyzer/model/call_class.h"

namespace prof::analyzer {

CallTraits call_traits(std::string_view api) {
  const auto has = [&](std::string_view part) { return api.find(part) != std::string_view::npos; };
  CallTraits traits;
  if (has("Graph")) return traits;
  if (has("StreamSynchronize")) {
    traits = {CallClass::Synchronization, WaitScope::Stream};
  } else if (has("EventSynchronize")) {
    traits = {CallClass::Synchronization, WaitScope::Event};
  } else if (has("DeviceSynchronize") || has("CtxSynchronize") || has("ThreadSynchronize")) {
    traits = {CallClass::Synchronization, WaitScope::Device};
  } else if (has("StreamWaitEvent")) {
    traits.orders_stream = true;
  } else if (has("EventRecord")) {
    traits.records_event = true;
  } else if (has("Memcpy") && !has("Attribute")) {
    // Asynchronous copies of pageable memory block, too: seen by their times, not by the name.
    traits = {CallClass::MemoryLaunch, WaitScope::OwnCopy};
  } else if (has("Memset") && !has("Async")) {
    traits = {CallClass::MemoryLaunch, WaitScope::OwnFill};
  } else if (has("Malloc") || has("MemAlloc") || has("HostAlloc") || has("cudaFree") || has("hipFree") ||
             has("cuMemFree") || has("HostRegister") || has("HostUnregister")) {
    traits.kind = CallClass::Allocation;
  }
  return traits;
}

CallTable::CallTable(const Trace& trace) {
  for (const StringId name : trace.apis) by_api_.push_back(call_traits(trace.text(name)));
}

}  // namespace prof::analyzer
