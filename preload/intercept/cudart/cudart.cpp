#include "preload/intercept/cudart/cudart.h"

#include "preload/base/clock.h"
#include "preload/base/decimal.h"
#include "preload/base/image.h"
#include "preload/base/libc.h"
#include "preload/base/life_page.h"
#include "preload/base/loader_call.h"
#include "preload/driver/api.h"
#include "preload/driver/handle_map.h"
#include "preload/intercept/cudart/thunk_call.h"
#include "preload/lifecycle/call_scope.h"
#include "preload/record/append.h"
#include "preload/record/texts.h"
#include "preload/record/thread_local.h"

#include <array>
#include <atomic>
#include <cstring>
#include <string_view>

namespace prof::preload {
namespace {

enum class First : uint8_t { Nothing, Number, Watch };
struct RuntimeRow {
  const char* name;
  First first;
};
constexpr RuntimeRow kRows[] = {
#define CUDART_API(name, first) {#name, First::first},
#include "preload/intercept/cudart/cudart_api.def"
#undef CUDART_API
};
constexpr uint32_t kRowCount = sizeof(kRows) / sizeof(kRows[0]);
constexpr const char* kVersions[] = {"libcudart.so.11.0", "libcudart.so.12", "libcudart.so.13"};
constexpr uint64_t kInsufficientDriver = 35;  // cudaErrorInsufficientDriver

struct Bank {
  std::atomic<uintptr_t> base;            // of the library with most functions of `real`; 0: none yet
  std::atomic<uint64_t> copies;           // exported banks: loaded libraries of the version at the last count
  std::atomic<void*> version;             // its cudaRuntimeGetVersion
  std::atomic<uint64_t> version_defined;  // epoch of the recording whose log has it
};
Bank g_banks[kBanks];
ApiNumber g_numbers[kRowCount];

// A function of a bank: everything that a call of it needs. It is one cache line, because the program's work may have
// evicted it.
struct alignas(32) Slot {
  std::atomic<void*> real;        // null: not known yet
  std::atomic<uint64_t> defined;  // epoch of the recording whose log has the function's name
  std::atomic<uint16_t> number;   // number of its row in the log, once it has one
  First first;
};
struct Slots {
  Slot of[kBanks][kRowCount];
  constexpr Slots() : of{} {
    for (auto& bank : of) {
      for (uint32_t row = 0; row < kRowCount; ++row) bank[row].first = kRows[row].first;
    }
  }
};
constinit Slots g_slots;

// Called if the library was unloaded or never existed. Returns what the CUDA runtime returns on a machine without a
// driver.
uint64_t no_runtime() { return kInsufficientDriver; }

// If a libcudart were unloaded, our thunks would call dead addresses.
void keep_loaded(const LoadedLibrary& library) {
  if (library.path[0] == '\0' || real_dlopen() == nullptr) return;
  const OwnCalls own;
  const LoaderCall inside;
  real_dlopen()(library.path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

// `version` null: any version.
void* in_library(const LoadedLibrary& library, const char* name, const char* version) {
  if (library.path[0] == '\0' || real_dlopen() == nullptr) return nullptr;
  const LoaderCall inside;
  void* const handle = real_dlopen()(library.path, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  const DlsymFunction find = real_dlsym();
  void* const found = version != nullptr ? real_dlvsym(handle, name, version)
                      : find != nullptr  ? find(handle, name)
                                         : nullptr;
  real_dlclose(handle);
  return found;
}

// From now on the bank's library is this one.
void adopt(Bank& bank, const LoadedLibrary& library) {
  if (bank.base.exchange(library.base) == library.base) return;
  keep_loaded(library);
  bank.version.store(in_library(library, "cudaRuntimeGetVersion", nullptr), std::memory_order_release);
}

// If two copies of a version are loaded, each call site has its own function: (return address, row) -> real function.
// An object with kernels that is loaded later, maybe at the address of an unloaded one, invalidates all entries.
HandleMap<4096> g_callers;
std::atomic<uint64_t> g_callers_generation;

const void* caller_key(uint64_t caller, uint32_t row) {
  const uint64_t generation = g_callers_generation.load(std::memory_order_acquire) & 63;
  return reinterpret_cast<const void*>(caller ^ uint64_t{row} << 48 ^ generation << 58);
}

// The function that a caller linked with this bank's version would reach without libprof.so.
void* resolve(uint32_t bank, uint32_t row, uint64_t caller) {
  if (bank >= kExportedBanks) return nullptr;
  Bank& of = g_banks[bank];
  const void* const key = caller_key(caller, row);
  if (const uint64_t known = g_callers.find(key); known != 0) return reinterpret_cast<void*>(known);
  const OwnCalls own;
  bool defines[kExportedBanks];
  if (void* const next = real_dlvsym(RTLD_NEXT, kRows[row].name, kVersions[bank]); next != nullptr) {
    const LoadedLibrary library = library_around(next, kVersions, kExportedBanks, defines);
    adopt(of, library);
    g_slots.of[bank][row].real.store(next, std::memory_order_release);
    return next;
  }
  LoadedLibrary library;
  const size_t copies =
      libraries_with_version(kVersions[bank], reinterpret_cast<const void*>(caller), "libcudart", library);
  if (copies == 0) return nullptr;
  void* const found = in_library(library, kRows[row].name, kVersions[bank]);
  if (found == nullptr) return nullptr;
  if (copies != 1) {
    g_callers.put(key, reinterpret_cast<uint64_t>(found));
    return found;
  }
  adopt(of, library);
  g_slots.of[bank][row].real.store(found, std::memory_order_release);
  return found;
}

// An object with kernels was loaded. If it brought a second library of the version, each call site finds its own
// function from now on.
void look_again(uint32_t bank, uint64_t caller) {
  if (bank >= kExportedBanks) return;
  const OwnCalls own;
  LoadedLibrary library;
  Bank& of = g_banks[bank];
  const uint64_t copies =
      libraries_with_version(kVersions[bank], reinterpret_cast<const void*>(caller), "libcudart", library);
  if (copies < 2) return;
  g_callers_generation.fetch_add(1, std::memory_order_acq_rel);
  if (of.copies.exchange(copies) == copies) return;
  for (Slot& slot : g_slots.of[bank]) slot.real.store(nullptr, std::memory_order_release);
}

// Once per recording and library, after a call of the program's own. The runtime is initialised by then, and this query
// only returns a constant.
void define_version(Bank& bank) {
  if (bank.version_defined.exchange(t_local.epoch, std::memory_order_relaxed) == t_local.epoch) return;
  const auto get = reinterpret_cast<int (*)(int*)>(bank.version.load(std::memory_order_acquire));
  if (get == nullptr) return;
  const OwnCalls own;
  int version = 0;
  if (get(&version) == 0 && version > 0)
    define_meta("cuda_runtime_version", Decimal(static_cast<uint64_t>(version)).text());
}

// Keeps errno.
__attribute__((cold, noinline)) void define_slot(Slot& slot) {
  const KeepErrno keep;
  const auto number = static_cast<uint32_t>(&slot - g_slots.of[0]);
  const uint32_t bank = number / kRowCount, row = number % kRowCount;
  define_version(g_banks[bank]);
  const format::ApiId id = api_id(g_numbers[row]);
  slot.number.store(static_cast<uint16_t>(id), std::memory_order_relaxed);
  for (const auto& other : g_slots.of) {
    if (other[row].defined.load(std::memory_order_relaxed) != t_local.epoch) continue;
    slot.defined.store(t_local.epoch, std::memory_order_release);  // defined by the same function of another library
    return;
  }
  format::ApiDef definition;
  definition.id = id;
  definition.name = kRows[row].name;
  while (definition.name[0] == '_') definition.name.remove_prefix(1);
  definition.level = 1;
  if (define(definition)) slot.defined.store(t_local.epoch, std::memory_order_release);
}

constexpr std::array<uint16_t, kRowCount> kByName = rows_by_name(kRows);

}  // namespace
}  // namespace prof::preload

extern "C" {
__attribute__((visibility("hidden"))) extern const char prof_cudart_thunks[], prof_cudart_thunks_end[];
__attribute__((visibility("hidden"), hot, aligned(64))) prof::preload::ThunkAnswer prof_cudart_begin(
    prof::preload::ThunkCall* call);
__attribute__((visibility("hidden"), hot, aligned(64), flatten)) void prof_cudart_end(prof::preload::ThunkCall* call);
}

namespace prof::preload {
namespace {

void* thunk(uint32_t bank, uint32_t row) {
  return const_cast<char*>(prof_cudart_thunks + (size_t{bank} * kRowCount + row) * kThunkBytes);
}

// Whether the bank's thunk of this row may replace `real`: it already does, or it replaces no function yet.
bool take(uint32_t number, uint32_t row, void* real, const LoadedLibrary& library) {
  Bank& bank = g_banks[number];
  uintptr_t nobody = 0;
  if (!bank.base.compare_exchange_strong(nobody, library.base) && nobody != library.base) return false;
  if (nobody == 0) {
    keep_loaded(library);
    bank.version.store(in_library(library, "cudaRuntimeGetVersion", nullptr), std::memory_order_release);
  }
  void* nothing = nullptr;
  return g_slots.of[number][row].real.compare_exchange_strong(nothing, real) || nothing == real;
}

inline ThunkAnswer begin(ThunkCall& call, Slot& slot, void* real) {
  if (inside_our_calls() || !thread_ready() || !life().runtime_calls.load(std::memory_order_relaxed)) return {real, 0};
  call.known = &slot;
  call.epoch = t_local.epoch;
  call.begin = now_ticks();
  return {real, 1};
}

// For a function that the slot does not have yet, and for a function to be watched.
__attribute__((cold, noinline)) ThunkAnswer begin_slow(ThunkCall& call) {
  const uint32_t number = static_cast<uint32_t>(call.slot), bank = number / kRowCount, row = number % kRowCount;
  Slot& slot = g_slots.of[bank][row];
  void* real = nullptr;
  {
    const KeepErrno keep;
    if (slot.first == First::Watch) look_again(bank, call.caller);
    real = slot.real.load(std::memory_order_acquire);
    if (real == nullptr) real = resolve(bank, row, call.caller);
  }
  if (real == nullptr) return {reinterpret_cast<void*>(no_runtime), 0};
  return slot.first == First::Watch ? ThunkAnswer{real, 0} : begin(call, slot, real);
}

}  // namespace

void* runtime_hook(const char* name, void* found) {
  if (found == nullptr) return nullptr;
  const int at = find_row(kRows, kByName, name);
  if (at < 0) return nullptr;
  if (found >= prof_cudart_thunks && found < prof_cudart_thunks_end) return found;
  const auto row = static_cast<uint32_t>(at);
  for (uint32_t bank = 0; bank < kBanks; ++bank) {
    if (g_slots.of[bank][row].real.load(std::memory_order_acquire) == found) return thunk(bank, row);
  }
  const OwnCalls own;
  bool defines[kExportedBanks];
  const LoadedLibrary library = library_around(found, kVersions, kExportedBanks, defines);
  if (library.base == 0) return nullptr;
  for (uint32_t bank = 0; bank < kBanks; ++bank) {
    if (bank < kExportedBanks && !defines[bank]) continue;
    if (take(bank, row, found, library)) return thunk(bank, row);
  }
  return nullptr;
}

}  // namespace prof::preload

using namespace prof::preload;

// Runs before the real function. Returns which function that is and whether the call is recorded. Keeps errno.
ThunkAnswer prof_cudart_begin(ThunkCall* call) {
  Slot& slot = g_slots.of[0][static_cast<uint32_t>(call->slot)];
  void* const real = slot.real.load(std::memory_order_acquire);
  if (real == nullptr || slot.first == First::Watch) [[unlikely]]
    return begin_slow(*call);
  return begin(*call, slot, real);
}

// Runs after the real function and writes the record. Launches and copies among the driver calls inside have records of
// their own, written before this one. Keeps errno.
void prof_cudart_end(ThunkCall* call) {
  prof::format::ApiCall event;
  event.end = now_ticks();
  if (t_local.epoch != call->epoch || life().epoch.load(std::memory_order_relaxed) != call->epoch) return;
  Slot& slot = *static_cast<Slot*>(call->known);
  if (slot.defined.load(std::memory_order_acquire) != call->epoch) [[unlikely]]
    define_slot(slot);
  event.duration = event.end - call->begin;
  event.api = prof::format::ApiId{slot.number.load(std::memory_order_relaxed)};
  if (slot.first == First::Number) [[unlikely]]
    event.object = call->words[0] & UINT32_MAX;
  event.result = static_cast<uint32_t>(call->result);
  emit(event);
}
