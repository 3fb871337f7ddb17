// What is the path of an event or a counter to which NVTX gave a scope? Scopes as the log defines them, by (domain,
// number), and those that NVTX predefines. Offline.
//
//   number ── parent ── parent ── predefined scope          CURRENT_HW_MACHINE[node1]/GPU[CUDAID:0]/SM[3]
#pragma once

#include "analyzer/base/strings.h"
#include "analyzer/model/trace.h"
#include "preload/format/nvtx_definitions.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace prof::analyzer {

// What "current" means in a predefined scope: the process and thread that submitted the event or took the sample.
struct ScopeHolder {
  std::string_view host;
  uint32_t pid = 0, tid = 0;
};

class NvtxScopes {
 public:
  NvtxScopes() = default;
  // If a number has two definitions, the first counts. Paths are views into the log.
  explicit NvtxScopes(const std::vector<format::NvtxScopeDef>& definitions);

  // Nodes from the outermost on, separated by '/'. A predefined scope is its name in NVTX's headers without
  // NVTX_SCOPE_, with its key if it is known. `?` represents a parent that the log does not define, `…` parents that
  // contain each other. Empty: no scope, or one that the log does not define.
  std::string path(format::DomainId domain, uint64_t number, const ScopeHolder& holder) const;

 private:
  std::map<std::pair<format::DomainId, uint64_t>, std::pair<uint64_t, std::string_view>> known_;  // parent, path
};

// Paths as strings of the model, with GPU[CUDAID:0] and GPU[UUID:…] as the device's number and name. Each is created
// once.
class ScopePaths {
 public:
  explicit ScopePaths(Trace& trace) : trace_(trace) {}

  // The path of the scope with `number` in `scopes`, which a log of `process` defines; `thread` submitted it. Row 0:
  // none.
  StringId of(const NvtxScopes& scopes, ProcessId process, format::DomainId domain, uint64_t number, ThreadId thread);

 private:
  Trace& trace_;
  std::map<std::tuple<const NvtxScopes*, format::DomainId, uint64_t, ThreadId>, StringId> made_;
};

}  // namespace prof::analyzer
