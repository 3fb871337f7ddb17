// See scope_paths.h.
#include "analyzer/input/log/nvtx/scope_paths.h"

#include "preload/format/nvtx_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>
#include <utility>

namespace prof::analyzer {

namespace {

constexpr size_t kMaxScopeDepth = 32;  // the recorder's limit
constexpr size_t kMaxPath = 2000;      // bytes shown; the outer part of a longer path is cut

enum class ScopeKey : uint8_t { None, Host, Process, Thread };
struct PredefinedScope {
  uint64_t number;
  std::string_view name;
  ScopeKey key;
};
constexpr PredefinedScope kPredefined[] = {{1, "ROOT", ScopeKey::None},
                                           {2, "CURRENT_HW_MACHINE", ScopeKey::Host},
                                           {3, "CURRENT_HW_SOCKET", ScopeKey::None},
                                           {4, "CURRENT_HW_CPU_PHYSICAL", ScopeKey::None},
                                           {5, "CURRENT_HW_CPU_LOGICAL", ScopeKey::None},
                                           {15, "CURRENT_HW_INNERMOST", ScopeKey::None},
                                           {16, "CURRENT_HYPERVISOR", ScopeKey::None},
                                           {17, "CURRENT_VM", ScopeKey::None},
                                           {18, "CURRENT_KERNEL", ScopeKey::None},
                                           {19, "CURRENT_CONTAINER", ScopeKey::None},
                                           {20, "CURRENT_OS", ScopeKey::None},
                                           {21, "CURRENT_SW_PROCESS", ScopeKey::Process},
                                           {22, "CURRENT_SW_THREAD", ScopeKey::Thread},
                                           {31, "CURRENT_SW_INNERMOST", ScopeKey::Thread}};

std::string predefined_path(uint64_t number, const ScopeHolder& holder) {
  const auto* const found = std::find_if(std::begin(kPredefined), std::end(kPredefined),
                                         [&](const PredefinedScope& scope) { return scope.number == number; });
  if (found == std::end(kPredefined)) return {};
  switch (found->key) {
    case ScopeKey::Host:
      if (!holder.host.empty()) return fmt::format("{}[{}]", found->name, holder.host);
      break;
    case ScopeKey::Process: return fmt::format("{}[{}]", found->name, holder.pid);
    case ScopeKey::Thread: return fmt::format("{}[{}]", found->name, holder.tid);
    case ScopeKey::None: break;
  }
  return std::string(found->name);
}

// `key` of a node GPU[key], as the headers spell it: CUDAID:0, UUID:0011-…; null: no device whose name is in the log.
const Device* device_of(const Trace& trace, ProcessId process, std::string_view key) {
  constexpr std::string_view kOrdinal = "CUDAID:", kUuid = "UUID:";
  uint32_t ordinal = UINT32_MAX;
  std::string uuid;
  if (key.starts_with(kOrdinal)) {
    std::from_chars(key.data() + kOrdinal.size(), key.data() + key.size(), ordinal);
  } else if (key.starts_with(kUuid)) {
    std::string_view digits = key.substr(kUuid.size());
    if (digits.starts_with("GPU-")) digits.remove_prefix(4);
    for (const char c : digits) {
      if (c != '-') uuid += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  for (const Device& device : trace.devices) {
    if (device.process != process || device.name.empty()) continue;
    if (device.ordinal == ordinal || (!uuid.empty() && device.uuid == uuid)) return &device;
  }
  return nullptr;
}

// Replaces GPU[…] by the number and name of that device, as NVTX recommends.
std::string with_device_names(const Trace& trace, ProcessId process, std::string_view path) {
  constexpr std::string_view kNode = "GPU[";
  std::string shown;
  size_t taken = 0;  // bytes of the path that are already in `shown`
  for (size_t at = path.find(kNode); at != std::string_view::npos; at = path.find(kNode, at + 1)) {
    const size_t key = at + kNode.size(), end = path.find(']', key);
    if (end == std::string_view::npos) break;
    if (at != 0 && path[at - 1] != '/') continue;
    const Device* const device = device_of(trace, process, path.substr(key, end - key));
    if (device == nullptr) continue;
    shown += path.substr(taken, at - taken);
    shown += fmt::format("GPU {} ({})", device->ordinal, device->name);
    taken = end + 1;
  }
  return shown += path.substr(taken);
}

}  // namespace

NvtxScopes::NvtxScopes(const std::vector<format::NvtxScopeDef>& definitions) {
  for (const format::NvtxScopeDef& def : definitions) {
    std::string_view path = def.path;  // leading slashes have no meaning
    path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
    known_.try_emplace({def.domain, def.number}, def.parent, path);
  }
}

std::string NvtxScopes::path(format::DomainId domain, uint64_t number, const ScopeHolder& holder) const {
  std::vector<std::string_view> nodes;  // innermost first
  std::vector<uint64_t> inside;         // the numbers of these scopes and of those without a path
  std::string outermost;
  size_t bytes = 0;
  while (number != 0) {
    if (number < format::nvtx::kFirstSchema) {
      outermost = predefined_path(number, holder);
      break;
    }
    if (bytes > kMaxPath || inside.size() == kMaxScopeDepth ||
        std::find(inside.begin(), inside.end(), number) != inside.end()) {
      outermost = "…";
      break;
    }
    const auto found = known_.find({domain, number});
    if (found == known_.end()) {
      if (!inside.empty()) outermost = "?";
      break;
    }
    inside.push_back(number);
    number = found->second.first;
    if (!found->second.second.empty()) nodes.push_back(found->second.second);
    bytes += found->second.second.size();
  }
  std::string path = std::move(outermost);
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    if (!path.empty()) path += '/';
    path += *node;
  }
  return path;
}

StringId ScopePaths::of(const NvtxScopes& scopes, ProcessId process, format::DomainId domain, uint64_t number,
                        ThreadId thread) {
  if (number == 0) return {};
  const auto [found, added] = made_.try_emplace({&scopes, domain, number, thread});
  if (added) {
    const Process& announced_by = trace_.processes[index(process)];
    const uint32_t tid = index(thread) < trace_.threads.size() ? trace_.threads[index(thread)].tid : 0;
    const std::string path = scopes.path(domain, number, {announced_by.host, announced_by.pid, tid});
    found->second = trace_.strings.intern(with_device_names(trace_, process, path));
  }
  return found->second;
}

}  // namespace prof::analyzer
