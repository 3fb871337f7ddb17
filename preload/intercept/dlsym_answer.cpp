// What does our dlsym answer for names that may be ours (cu[A-Z], cuda[A-Z], cupti[A-Z], nvtx, cub, cudn, cuf, cus,
// nccl)? dlsym.S forwards all other names to libc. The answer is what the loader would return without libprof.so. If
// that is the function of a row, the answer is our hook instead.
#include "preload/base/libc.h"
#include "preload/base/own_library.h"
#include "preload/intercept/cudart/cudart.h"
#include "preload/intercept/cupti/cupti_stand_ins.h"
#include "preload/intercept/cupti/second_cupti.h"
#include "preload/intercept/hooks.h"
#include "preload/intercept/libraries/library.h"
#include "preload/intercept/nvtx/nvtx_chain.h"
#include "preload/intercept/records/unhooked.h"
#include "preload/intercept/resolve.h"
#include "preload/lifecycle/load.h"
#include "preload/record/thread_local.h"

#include <dlfcn.h>

#include <cstring>

extern "C" {

struct ProfDlsymAnswer {
  void* pointer;
  uint64_t forward;  // not 0: jump to libc's dlsym with the caller's own return address
};

__attribute__((visibility("hidden"))) extern const char prof_exports_begin[], prof_exports_end[];
__attribute__((visibility("hidden"))) prof::preload::DlsymFunction prof_find_dlsym();
__attribute__((visibility("hidden"))) prof::preload::DlopenFunction prof_find_dlopen();
__attribute__((visibility("hidden"))) prof::preload::DlmopenFunction prof_find_dlmopen();
__attribute__((visibility("hidden"))) ProfDlsymAnswer prof_dlsym_answer(void* handle, const char* name,
                                                                        const void* caller);

// There is no dlsym in the process: no symbol can be found.
namespace {
void* prof_no_dlsym(void*, const char*) { return nullptr; }
void* prof_no_dlopen(const char*, int) { return nullptr; }
void* prof_no_dlmopen(long, const char*, int) { return nullptr; }
}  // namespace

prof::preload::DlsymFunction prof_find_dlsym() {
  const auto found = prof::preload::real_dlsym();
  return found != nullptr ? found : prof_no_dlsym;
}
prof::preload::DlopenFunction prof_find_dlopen() {
  const auto found = prof::preload::real_dlopen();
  return found != nullptr ? found : prof_no_dlopen;
}
prof::preload::DlmopenFunction prof_find_dlmopen() {
  const auto found = prof::preload::real_dlmopen();
  return found != nullptr ? found : prof_no_dlmopen;
}
}

namespace prof::preload {
namespace {

bool exported_by_us(const void* pointer) { return pointer >= prof_exports_begin && pointer < prof_exports_end; }

ProfDlsymAnswer answer_row(void* handle, const char* name, Api row) {
  const DlsymFunction dlsym_of_libc = prof_find_dlsym();
  const bool scope = handle == RTLD_DEFAULT || handle == RTLD_NEXT;
  // From here, RTLD_NEXT finds what is after libprof.so in the program's global scope. That is what RTLD_DEFAULT would
  // find without libprof.so. A handle of dlopen(NULL) finds our own export first, too.
  void* found = scope ? nullptr : dlsym_of_libc(handle, name);
  if (found == nullptr ? scope : exported_by_us(found)) found = dlsym_of_libc(RTLD_NEXT, name);
  if (found != nullptr) {
    void* const hook = hook_of_symbol(found, row);
    if (hook != nullptr) return {hook, 0};
    // Another library's function of that name. With RTLD_NEXT, only libc knows which function is after the caller.
    return {found, handle == RTLD_NEXT ? uint64_t{1} : 0};
  }
  // A driver that was opened with RTLD_LOCAL may be in the caller's own scope, where this code cannot search.
  if (scope && resolve_driver() && g_driver_rows[index_of(row)].real.load(std::memory_order_relaxed) != nullptr) {
    return {g_hooks[index_of(row)], 0};
  }
  return {nullptr, 0};
}

// A function of the CUDA runtime. Our exports of these functions have versions. dlsym does not request versions, so no
// search finds these exports. RTLD_DEFAULT and RTLD_NEXT mean the same as above.
ProfDlsymAnswer answer_runtime(void* handle, const char* name) {
  void* const found = prof_find_dlsym()(handle, name);
  if (void* const hook = runtime_hook(name, found); hook != nullptr) return {hook, 0};
  return {found, handle == RTLD_DEFAULT || handle == RTLD_NEXT ? uint64_t{1} : 0};
}

// A process that must not be touched: what the program would find if the library had no exports.
ProfDlsymAnswer answer_inert(void* handle, const char* name) {
  void* const after_us = prof_find_dlsym()(RTLD_NEXT, name);
  // For a caller before us, RTLD_NEXT may mean our export. Where nothing follows, nothing is found for any caller.
  if (handle == RTLD_NEXT) return {nullptr, after_us != nullptr ? uint64_t{1} : 0};
  return is_own_code(prof_find_dlsym()(handle, name)) ? ProfDlsymAnswer{after_us, 0} : ProfDlsymAnswer{nullptr, 1};
}

// cub, cudn, cuf, cus, nccl.
bool may_be_library(const char* name) {
  return name[2] == 'b' || name[2] == 'f' || name[2] == 's' || (name[2] == 'd' && name[3] == 'n') ||
         (name[0] == 'n' && name[1] == 'c');
}

// A function of a library on top of CUDA. A search never finds our exports with versions, as above. It may find those
// without one.
ProfDlsymAnswer answer_library(void* handle, const char* name, const void* caller) {
  const int row = library_row(name);
  if (row < 0) return {nullptr, 1};
  const bool scope = handle == RTLD_DEFAULT || handle == RTLD_NEXT;
  void* found = prof_find_dlsym()(handle, name);
  const bool ours = is_library_thunk(found);
  if (ours) {
    found = prof_find_dlsym()(RTLD_NEXT, name);
    // A library that was opened with RTLD_LOCAL may be in the caller's own scope. Our export finds it by its caller.
    if (found == nullptr)
      return {library_has(static_cast<uint32_t>(row)) ? prof_find_dlsym()(handle, name) : nullptr, 0};
  }
  if (void* const hook = library_hook(static_cast<uint32_t>(row), found, caller); hook != nullptr) return {hook, 0};
  return {found, scope && !ours ? uint64_t{1} : 0};
}

// NVTX looks for an entry of the tool that the program named. This library is the tool, and calls that one.
ProfDlsymAnswer answer_nvtx(void* handle, void* own_entry) {
  const bool whole_scope = handle == RTLD_DEFAULT || handle == RTLD_NEXT;
  if (whole_scope || chained_nvtx_injection()[0] == '\0' || nvtx_injection() == nullptr) return {nullptr, 1};
  if (prof_find_dlsym()(handle, kNvtxEntry) == nullptr) return {nullptr, 1};
  return {own_entry, 0};
}

}  // namespace
}  // namespace prof::preload

ProfDlsymAnswer prof_dlsym_answer(void* handle, const char* name, const void* caller) {
  using namespace prof::preload;
  if (inert()) return answer_inert(handle, name);
  if (inside_our_calls()) {
    // A call of the recorder, or of another profiler whose functions are called while the recorder flushes.
    const bool of_cupti = std::strncmp(name, "cupti", 5) == 0 && handle != RTLD_DEFAULT && handle != RTLD_NEXT;
    void* const stand_in = of_cupti ? cupti_stand_in(handle, name) : nullptr;
    return {stand_in, stand_in == nullptr ? uint64_t{1} : 0};
  }
  if (may_be_library(name)) return answer_library(handle, name, caller);
  if (void* const entry = name[0] == 'I' ? own_nvtx_entry(name) : nullptr; entry != nullptr)
    return answer_nvtx(handle, entry);
  if (const Api* const row = row_of_name(name); row != nullptr) return answer_row(handle, name, *row);
  if (name[2] == 'd') return answer_runtime(handle, name);
  if (std::strcmp(name, kDriverTables) == 0) look_for_second_cupti(caller);
  if (handle == RTLD_DEFAULT) {
    if (void* const stand_in = new_cupti_stand_in(handle, name); stand_in != nullptr) return {stand_in, 0};
  }
  if (handle == RTLD_DEFAULT || handle == RTLD_NEXT) return {nullptr, 1};
  if (void* const stand_in = cupti_stand_in(handle, name); stand_in != nullptr) return {stand_in, 0};
  if (name[2] >= 'A' && name[2] <= 'Z') {
    void* const found = prof_find_dlsym()(handle, name);
    if (found != nullptr) notice_unhooked(name);
    return {found, 0};
  }
  return {nullptr, 1};
}
