// Under which path do an event or a counter belong that NVTX gave a scope? Scopes as the log defines them, by (domain, number), and those
// that NVTX predefines. Offline.
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

// What "current" means in a predefined scope: who announced the event or took the sample.
struct ScopeHolder {
  std::string_view host;
  uint32_t pid = 0, tid = 0;
};

class NvtxScopes {
 public:
  NvtxScopes() = default;
  // Of two definitions of one number the first counts. Paths are views of the log.
  explicit NvtxScopes(const std::vector<format::NvtxScopeDef>& definitions);

  // Nodes from the outermost on, separated by '/'. A predefined scope is its name in NVTX's headers without NVTX_SCOPE_, with the key
  // that is known of it; `?` stands for a parent that the log does not define, `…` for parents that contain each other. Empty: no
  // scope, or one that the log does not define.
  std::string path(format::DomainId domain, uint64_t number, const ScopeHolder& holder) const;

 private:
  std::map<std::pair<format::DomainId, uint64_t>, std::pair<uint64_t, std::string_view>> known_;  // parent, path
};

// Paths as strings of the model, GPU[CUDAID:0] and GPU[UUID:…] as the device's number and name; each is made once.
class ScopePaths {
 public:
  explicit ScopePaths(Trace& trace) : trace_(trace) {}

  // The path of a scope that `scopes`, which a log of `process` defines, know by `number`; `thread` announced it. Row 0: none.
  StringId of(const NvtxScopes& scopes, ProcessId process, format::DomainId domain, uint64_t number, ThreadId thread);

 private:
  Trace& trace_;
  std::map<std::tuple<const NvtxScopes*, format::DomainId, uint64_t, ThreadId>, StringId> made_;
};

}  // namespace prof::analyzer
