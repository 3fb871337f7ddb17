// See nvtx_scopes.h.
#include "preload/intercept/nvtx/nvtx_scopes.h"

#include "preload/driver/handle_map.h"
#include "preload/format/nvtx_definitions.h"
#include "preload/format/nvtx_types.h"
#include "preload/intercept/nvtx/nvtx_registry.h"
#include "preload/lifecycle/call_scope.h"
#include "preload/log/count.h"
#include "preload/record/append.h"
#include "preload/record/intern.h"
#include "preload/record/thread_local.h"

#include <atomic>
#include <cstddef>
#include <cstring>
#include <new>
#include <string_view>

namespace prof::preload {
namespace {

namespace nvtx = format::nvtx;

constexpr size_t kMaxScopePath = 1000;
constexpr int kMaxScopeDepth = 32;  // a program may build cycles with its own numbers

struct NvtxScope {
  NvtxObject* domain = nullptr;
  uint64_t number = 0, parent = 0;
  const char* path = "";
  std::atomic<uint64_t> defined{0};  // epoch of the recording in which it was last defined
};

HandleMap<4096> g_scopes;          // nvtx_key(domain, number) -> NvtxScope
HandleMap<4096> g_scopes_by_path;  // hash of (domain, parent, path) -> NvtxScope

NvtxScope* find_scope(NvtxObject* domain, uint64_t number) {
  return reinterpret_cast<NvtxScope*>(g_scopes.find(nvtx_key(domain, number)));
}

bool same_scope(const NvtxScope& known, uint64_t parent, std::string_view path) {
  return known.parent == parent && path == known.path;
}

// The scope of this number, made if it is not registered. Null: there is no room.
NvtxScope* registered_scope(NvtxObject* domain, uint64_t number, uint64_t parent, std::string_view path) {
  static std::atomic<bool> full{false};  // when the table is full, no memory is allocated
  if (NvtxScope* const known = find_scope(domain, number); known != nullptr) return known;
  void* const memory = full.load(std::memory_order_relaxed) ? nullptr : nvtx_allocate(sizeof(NvtxScope));
  if (memory == nullptr) return nullptr;
  auto* const scope = new (memory) NvtxScope{};
  scope->domain = domain;
  scope->number = number;
  scope->parent = parent;
  scope->path = nvtx_copied(path.data(), path.size());
  if (g_scopes.put(nvtx_key(domain, number), reinterpret_cast<uint64_t>(scope))) return scope;
  full.store(true, std::memory_order_relaxed);
  return nullptr;
}

}  // namespace

uint64_t nvtx_register_scope(NvtxObject* domain, const NvtxScopeGiven* given, uint64_t wanted) {
  if (given == nullptr || given->struct_size < offsetof(NvtxScopeGiven, id)) return nvtx_refuse();
  const uint64_t own = given->struct_size >= sizeof *given ? given->id : 0;
  if (wanted == 0 && own != 0 && own < nvtx::kFirstSchema) return nvtx_refuse();  // NVTX's own numbers
  std::string_view path(given->path != nullptr ? given->path : "");
  if (path.size() > kMaxScopePath) {
    path = path.substr(0, kMaxScopePath);
    count(format::LossCounter::text_cut);
  }
  void* const contents = nvtx_key(domain, Hash().add(given->parent).add(path).done());
  if (wanted == 0 && own == 0) {
    const auto* const known = reinterpret_cast<const NvtxScope*>(g_scopes_by_path.find(contents));
    if (known != nullptr && same_scope(*known, given->parent, path)) return known->number;
  }
  NvtxScope* const scope = registered_scope(domain, nvtx_number_of(wanted, own), given->parent, path);
  if (scope == nullptr) return nvtx_refuse();
  if (!same_scope(*scope, given->parent, path)) {
    nvtx_refuse();
    return wanted;
  }
  g_scopes_by_path.put(contents, reinterpret_cast<uint64_t>(scope));
  const EventScope recording;
  if (recording.recording()) nvtx_define_scope(domain, scope->number);
  return scope->number;
}

void nvtx_define_scope(NvtxObject* domain, uint64_t number) {
  for (int depth = 0; number >= nvtx::kFirstSchema && depth < kMaxScopeDepth; ++depth) {
    NvtxScope* const scope = find_scope(domain, number);
    if (scope == nullptr || scope->defined.load(std::memory_order_relaxed) == t_local.epoch) return;
    if (!define(format::NvtxScopeDef{nvtx_domain_id(domain), scope->number, scope->parent, scope->path})) return;
    scope->defined.store(t_local.epoch, std::memory_order_relaxed);
    number = scope->parent;
  }
}

uint64_t nvtx_scope_of(const NvtxSemantics* semantics) {
  for (int i = 0; semantics != nullptr && i < 16; ++i, semantics = semantics->next) {
    if (semantics->id == kSemanticsScope && semantics->struct_size >= sizeof(NvtxSemanticsScope))
      return reinterpret_cast<const NvtxSemanticsScope*>(semantics)->scope;
  }
  return 0;
}

}  // namespace prof::preload
