// What a call does to the flow of time, by its name as CUDA, HIP or a tool spells it: does it launch, wait, allocate, order
// streams? Decided once per name. Called by dependencies.cpp and dependency_graph.cpp.
#pragma once

#include "analyzer/model/trace.h"

#include <vector>

namespace prof::analyzer {

enum class CallClass : uint8_t { Other, KernelLaunch, GraphLaunch, MemoryLaunch, Synchronization, Allocation };
enum class WaitScope : uint8_t { None, Stream, Event, Device, OwnCopy, OwnFill };

struct CallTraits {
  CallClass kind = CallClass::Other;
  WaitScope waits = WaitScope::None;  // what has finished when the call returns
  bool records_event = false;
  bool orders_stream = false;  // later work of its stream waits for an event
};

CallTraits call_traits(std::string_view api);

class CallTable {
 public:
  explicit CallTable(const Trace& trace);
  CallTraits of(const HostEvent& call) const {
    CallTraits traits = by_api_[call.api() < by_api_.size() ? call.api() : 0];
    switch (call.kind()) {
      case HostKind::KernelLaunch: traits.kind = CallClass::KernelLaunch; break;
      case HostKind::GraphLaunch: traits.kind = CallClass::GraphLaunch; break;
      case HostKind::MemoryLaunch: traits.kind = CallClass::MemoryLaunch; break;
      case HostKind::Allocation: traits.kind = CallClass::Allocation; break;
      case HostKind::Call: break;
    }
    return traits;
  }

 private:
  std::vector<CallTraits> by_api_;
};

}  // namespace prof::analyzer
