#include "preload/intercept/resolve.h"

#include "preload/base/image.h"
#include "preload/driver/driver.h"
#include "preload/driver/null_stream.h"
#include "preload/intercept/hooks.h"
#include "preload/record/bypasses.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <string_view>

extern "C" {
__attribute__((visibility("hidden"))) extern void* prof_exported[prof::preload::kApiCount];  // hooks.cpp
}

namespace prof::preload {

namespace {

// The driver's own function of each row whose hook calls what an auditor (LD_AUDIT) put in its place; null: none did.
std::atomic<void*> g_audited[kApiCount];

std::atomic<uintptr_t> g_driver_base{0};  // where libcuda was when its symbols were read; 0: not seen

constexpr std::array<Api, kApiCount> sorted_rows() {
  std::array<Api, kApiCount> rows{};
  for (size_t i = 0; i < kApiCount; ++i) rows[i] = static_cast<Api>(i);
  std::sort(rows.begin(), rows.end(), [](Api a, Api b) {
    return std::string_view(kApiNames[index_of(a)]) < std::string_view(kApiNames[index_of(b)]);
  });
  return rows;
}
constexpr std::array<Api, kApiCount> kSorted = sorted_rows();

struct OwnFunction {
  const char* name;
  size_t offset;  // of the function's pointer in Driver
};
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
constexpr OwnFunction kOwnFunctions[] = {
#define PROF_DRIVER_FUNCTION(name) {#name, offsetof(Driver, name)},
#include "preload/driver/driver_functions.def"
#undef PROF_DRIVER_FUNCTION
};
#pragma GCC diagnostic pop

void take_symbol(void*, const char* name, void* address) {
  if (const Api* const row = row_of_name(name); row != nullptr) {
    std::atomic<void*>& audited = g_audited[index_of(*row)];
    const bool replaced = audited.load(std::memory_order_relaxed) != nullptr;
    (replaced ? audited : g_driver_rows[index_of(*row)].real).store(address, std::memory_order_relaxed);
  }
  for (const OwnFunction& own : kOwnFunctions) {
    if (std::strcmp(own.name, name) != 0) continue;
    char* const slot = reinterpret_cast<char*>(&g_driver) + own.offset;
    __atomic_store_n(reinterpret_cast<void**>(slot), address, __ATOMIC_RELAXED);
  }
}

// Programs that check for a GPU open and close libcuda. The next libcuda may be at another address, so all symbols are
// read again.
bool read_driver() {
  const uintptr_t base = visit_exports("libcuda.so", take_symbol, nullptr);
  if (base != 0) g_driver_base.store(base, std::memory_order_release);
  return base != 0;
}

// How well a row that has the right address fits the requested name. A higher number is a better fit.
int fitness(const char* row, const char* asked, bool per_thread) {
  if (std::strcmp(row, asked) == 0) return per_thread ? 2 : 3;
  if (std::strncmp(row, asked, std::strlen(asked)) != 0) return 1;
  return (null_stream_of(row) == NullStream::PerThread) == per_thread ? 4 - (per_thread ? 0 : 2) : 1;
}

void* search(void* real, const char* asked, bool per_thread) {
  void* hook = nullptr;
  int best = 0;
  for (size_t i = 0; i < kApiCount; ++i) {
    if (g_driver_rows[i].real.load(std::memory_order_relaxed) != real &&
        g_audited[i].load(std::memory_order_relaxed) != real)
      continue;
    const int fit = fitness(kApiNames[i], asked, per_thread);
    if (fit > best) {
      best = fit;
      hook = g_hooks[i];
    }
  }
  return hook;
}

// An auditor is in a namespace of its own. What the loader returns from there is the function that the auditor put in
// the place of the driver's. It calls the driver's, or what it saw first under that name. The hook calls it from now
// on, so a linked call, which the auditor also leads to our export, must reach the driver from there without a hook.
bool adopt_audited(void* replacement, Api row) {
  bool none = false;
  const char* const any = "";
  if (library_around(replacement, &any, 1, &none).base != 0) return false;
  std::atomic<void*>& known = g_driver_rows[index_of(row)].real;
  void* const driver = known.load(std::memory_order_relaxed);
  void* expected = nullptr;
  if (driver == nullptr || !g_audited[index_of(row)].compare_exchange_strong(expected, driver)) {
    note_bypass(Bypass::NotAudited, kApiNames[index_of(row)]);
    return false;
  }
  __atomic_store_n(&prof_exported[index_of(row)], driver, __ATOMIC_RELAXED);
  known.store(replacement, std::memory_order_relaxed);
  note_bypass(Bypass::Audited, kApiNames[index_of(row)]);
  return true;
}

}  // namespace

bool resolve_driver() { return g_driver_base.load(std::memory_order_acquire) != 0 || read_driver(); }

const Api* row_of_name(const char* name) {
  const std::string_view wanted(name);
  const auto* const found = std::lower_bound(
      kSorted.begin(), kSorted.end(), wanted,
      [](Api row, std::string_view text) { return std::string_view(kApiNames[index_of(row)]) < text; });
  return found != kSorted.end() && wanted == kApiNames[index_of(*found)] ? found : nullptr;
}

void* hook_of_pointer(void* real, const char* asked, bool per_thread) {
  if (real == nullptr) return nullptr;
  const char* const name = asked != nullptr ? asked : "";
  if (void* const hook = search(real, name, per_thread); hook != nullptr) return hook;
  return g_driver_base.load(std::memory_order_acquire) == 0 && read_driver() ? search(real, name, per_thread) : nullptr;
}

void* hook_of_symbol(void* real, Api row) {
  std::atomic<void*>& known = g_driver_rows[index_of(row)].real;
  if (known.load(std::memory_order_relaxed) == real) return g_hooks[index_of(row)];
  read_driver();
  void* expected = nullptr;
  if (known.compare_exchange_strong(expected, real, std::memory_order_relaxed) || expected == real) {
    return g_hooks[index_of(row)];
  }
  return adopt_audited(real, row) ? g_hooks[index_of(row)] : nullptr;
}

}  // namespace prof::preload
