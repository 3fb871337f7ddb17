// What does a CUDA or HIP call do: launch, copy, wait, allocate, order streams? The name of the call decides, as CUDA,
// HIP or a tool spells it, because calls have no other property. Each name is classified once.
#pragma once

#include "analyzer/model/trace.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace prof::analyzer {

enum class CallRole : uint8_t {
  Other,
  Launch,       // of a kernel or graph
  Copy,         // copy or memset
  Allocate,     // device or pinned memory
  Free,         // device or pinned memory
  Synchronize,  // waits for a stream, an event, a context or a device
  StreamWait,   // makes a stream wait for an event
  EventRecord,
  ValueWait,     // makes a stream wait for a value in memory
  ValueWrite,    // makes a stream write a value to memory
  ValueBatch,    // both, any number of times
  HostFunction,  // makes a stream run a function of the program
};

// The classes of calls that a dependency graph distinguishes.
enum class CallClass : uint8_t { Other, KernelLaunch, GraphLaunch, MemoryLaunch, Synchronization, Allocation };
enum class WaitScope : uint8_t { None, Stream, Event, Device, OwnCopy, OwnFill };

struct CallTraits {
  CallRole role = CallRole::Other;
  CallClass kind = CallClass::Other;
  WaitScope waits = WaitScope::None;  // what has ended when the call returns
  bool records_event = false;
  bool orders_stream = false;  // later operations of its stream wait for an event
  bool asks_event = false;     // queries whether an event is complete
  bool begins_capture = false, ends_capture = false;
};

// Whether the call makes its stream wait for a value in memory, write one, or both.
constexpr bool uses_value(CallRole role) {
  return role == CallRole::ValueWait || role == CallRole::ValueWrite || role == CallRole::ValueBatch;
}

// The HostKind of a call by its name, as CUDA, HIP or a tool spells it: "cudaLaunchKernel", "cuMemcpyHtoDAsync_v2",
// "cudaLaunchKernel_v7000", "hipMemcpyWithStream".
HostKind call_kind(std::string_view api);

// "cudaStreamSynchronize", "cuMemFree_v2", "hipStreamWaitEvent" …
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
  // A call that launched GPU operations is a launch, whatever its name.
  CallRole role(const HostEvent& call) const {
    if (call.is_launch()) return call.kind() == HostKind::MemoryLaunch ? CallRole::Copy : CallRole::Launch;
    const CallRole role = by_api_[call.api() < by_api_.size() ? call.api() : 0].role;
    if (call.kind() == HostKind::Allocation) return role == CallRole::Free ? role : CallRole::Allocate;
    return role == CallRole::Launch || role == CallRole::Copy ? CallRole::Other : role;
  }

 private:
  std::vector<CallTraits> by_api_;
};

}  // namespace prof::analyzer
