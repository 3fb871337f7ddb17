// What a CUDA or HIP call means for the host thread that makes it. By its name: calls have no other kind. Offline.
#pragma once

#include "analyzer/model/trace.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace prof::analyzer {

enum class CallRole : uint8_t {
  Other,
  Launch,       // kernel or graph
  Copy,         // copy or memset
  Allocate,     // of device or pinned memory
  Free,         // of the same
  Synchronize,  // waits for a stream, an event, a context or a device
  StreamWait,   // makes a stream wait for an event
  EventRecord,
};

// "cudaStreamSynchronize", "cuMemFree_v2", "hipStreamWaitEvent" …
CallRole call_role(std::string_view api);

class CallRoles {
 public:
  explicit CallRoles(const Trace& trace) {
    of_api_.reserve(trace.apis.size());
    for (const StringId name : trace.apis) of_api_.push_back(call_role(trace.text(name)));
  }
  // What has GPU work is a launch, whatever its name.
  CallRole of(const HostEvent& event) const {
    if (event.is_launch()) return event.kind() == HostKind::MemoryLaunch ? CallRole::Copy : CallRole::Launch;
    const CallRole role = of_api_[event.api()];
    if (event.kind() == HostKind::Allocation) return role == CallRole::Free ? role : CallRole::Allocate;
    return role == CallRole::Launch || role == CallRole::Copy ? CallRole::Other : role;
  }

 private:
  std::vector<CallRole> of_api_;
};

}  // namespace prof::analyzer
