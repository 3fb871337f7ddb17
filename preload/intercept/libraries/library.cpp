#include "preload/intercept/libraries/library.h"

#include "preload/base/clock.h"
#include "preload/base/image.h"
#include "preload/base/libc.h"
#include "preload/base/life_page.h"
#include "preload/base/loader_call.h"
#include "preload/base/options.h"
#include "preload/base/own_library.h"
#include "preload/intercept/cudart/thunk_call.h"
#include "preload/intercept/libraries/library_collectives.h"
#include "preload/intercept/libraries/library_fft.h"
#include "preload/intercept/libraries/library_plans.h"
#include "preload/intercept/libraries/library_record.h"
#include "preload/intercept/libraries/library_tensors.h"
#include "preload/intercept/libraries/library_versions.h"
#include "preload/lifecycle/call_scope.h"
#include "preload/record/append.h"
#include "preload/record/thread_local.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace prof::preload {

namespace {

// Names and types as library_api.def has them. Types are values of cudaDataType_t.
constexpr Library kCUBLAS = Library::Cublas, kCUBLASLT = Library::CublasLt, kCUDNN = Library::Cudnn,
                  kCUFFT = Library::Cufft, kCUSPARSE = Library::Cusparse, kNCCL = Library::Nccl;
constexpr int16_t kFp32 = 0, kFp64 = 1, kFp16 = 2, kComplex64 = 4, kComplex128 = 5, kBf16 = 14, kGiven = kGivenType;

}  // namespace

constexpr LibraryRow kLibraryRows[] = {
#define LIBRARY_API(library, name, which, type) {#name, k##library, form::k##which, k##type},
#include "preload/intercept/libraries/library_api.def"
#undef LIBRARY_API
};

namespace {

constexpr uint32_t kRowCount = sizeof(kLibraryRows) / sizeof(kLibraryRows[0]);
constexpr uint64_t kFailed = 1;  // an error in each of the libraries

struct LibraryFiles {
  const char* versions[kExportedBanks];
  const char* file;
};
#define PROF_LIBRARY_VERSIONS(a, b, c) \
  { a, b, c }
constexpr LibraryFiles kFiles[kLibraries] = {{PROF_LIBRARY_CUBLAS(PROF_LIBRARY_VERSIONS), PROF_LIBRARY_FILE_CUBLAS},
                                             {PROF_LIBRARY_CUBLASLT(PROF_LIBRARY_VERSIONS), PROF_LIBRARY_FILE_CUBLASLT},
                                             {PROF_LIBRARY_CUDNN(PROF_LIBRARY_VERSIONS), PROF_LIBRARY_FILE_CUDNN},
                                             {PROF_LIBRARY_CUFFT(PROF_LIBRARY_VERSIONS), PROF_LIBRARY_FILE_CUFFT},
                                             {PROF_LIBRARY_CUSPARSE(PROF_LIBRARY_VERSIONS), PROF_LIBRARY_FILE_CUSPARSE},
                                             {PROF_LIBRARY_NCCL(PROF_LIBRARY_VERSIONS), PROF_LIBRARY_FILE_NCCL}};

struct Bank {
  std::atomic<uintptr_t> base[kLibraries];  // of the library that `real` belongs to; 0: none yet
  LibraryGetters getters[kLibraries];
  std::atomic<void*> real[kRowCount];
};
Bank g_banks[kBanks];

const LibraryFiles& files_of(uint32_t row) { return kFiles[static_cast<uint32_t>(kLibraryRows[row].library)]; }
uint32_t library_of(uint32_t row) { return static_cast<uint32_t>(kLibraryRows[row].library); }

// Whether calls of that row are noted when they start (PROF_COLLECTIVES).
bool starts_wanted(uint32_t row) { return options().collectives && kLibraryRows[row].library == Library::Nccl; }

// Also called before any constructor, when a symbol is searched. It is also false while another thread reads the
// options.
bool row_wanted(uint32_t row) {
  if (!read_options_once() || inert()) return false;
  return starts_wanted(row) || (options().libs && !is_of_communicators(kLibraryRows[row].form.family));
}

// Called if the function that was meant cannot be found.
uint64_t no_library() { return kFailed; }

void* open_again(const LoadedLibrary& library, int flags) {
  if (library.path[0] == '\0' || real_dlopen() == nullptr) return nullptr;
  const LoaderCall inside;
  return real_dlopen()(library.path, RTLD_LAZY | RTLD_NOLOAD | flags);
}

// If a library were unloaded, our thunks would call dead addresses.
void keep(Bank& bank, uint32_t row, const LoadedLibrary& library) {
  if (bank.base[library_of(row)].exchange(library.base) == library.base) return;
  open_again(library, RTLD_NODELETE);
}

void* plain(void* handle, const char* name) {
  const LoaderCall inside;
  const DlsymFunction look = real_dlsym();
  void* const found = look != nullptr ? look(handle, name) : nullptr;
  if (found == nullptr && prof_libc_dlerror != nullptr) prof_libc_dlerror();
  return found;
}

// The function of a library without versions. First the one after libprof.so in the program's global scope. Else the
// one in the library that the caller was linked with. Else the one in the caller's own object, which then contains a
// copy.
void* find_plain(uint32_t row, const void* caller) {
  const char* const name = kLibraryRows[row].name;
  void* found = plain(RTLD_NEXT, name);
  if (found == nullptr) found = exported_for_caller(caller, files_of(row).file, name);
  if (found == nullptr && caller != nullptr) found = exported_around(caller, name);
  return is_library_thunk(found) ? nullptr : found;
}

// The function that a caller linked with this bank's version would reach without libprof.so.
void* resolve(uint32_t bank, uint32_t row, const void* caller) {
  if (bank >= kExportedBanks) return nullptr;
  const OwnCalls own;
  const char* const version = files_of(row).versions[bank];
  const char* const name = kLibraryRows[row].name;
  void* found = nullptr;
  if (version[0] == '\0') {
    found = find_plain(row, caller);
  } else if (found = real_dlvsym(RTLD_NEXT, name, version); found == nullptr) {
    LoadedLibrary library;
    if (libraries_with_version(version, caller, files_of(row).file, library) == 0) return nullptr;
    void* const handle = open_again(library, 0);
    if (handle == nullptr) return nullptr;
    found = real_dlvsym(handle, name, version);
    real_dlclose(handle);
  }
  if (found == nullptr) return nullptr;
  keep(g_banks[bank], row, library_around(found, nullptr, 0, nullptr));
  g_banks[bank].real[row].store(found, std::memory_order_release);
  return found;
}

template <class Function> void take(std::atomic<Function>& to, void* handle, const char* name) {
  void* const found = handle != nullptr ? plain(handle, name) : nullptr;
  to.store(reinterpret_cast<Function>(found), std::memory_order_relaxed);
}

__attribute__((noinline)) void find_getters(LibraryGetters& getters, const void* real) {
  const OwnCalls own;
  void* const handle = open_again(library_around(real, nullptr, 0, nullptr), 0);
  take(getters.cublas_math_mode, handle, "cublasGetMathMode");
  take(getters.cublas_pointer_mode, handle, "cublasGetPointerMode_v2");
  take(getters.lt_operation, handle, "cublasLtMatmulDescGetAttribute");
  take(getters.lt_layout, handle, "cublasLtMatrixLayoutGetAttribute");
  take(getters.lt_algorithm, handle, "cublasLtMatmulAlgoConfigGetAttribute");
  take(getters.tensor, handle, "cudnnGetTensorNdDescriptor");
  take(getters.filter, handle, "cudnnGetFilterNdDescriptor");
  take(getters.nccl_ranks, handle, "ncclCommCount");
  take(getters.nccl_rank, handle, "ncclCommUserRank");
  take(getters.nccl_version, handle, "ncclGetVersion");
  take(getters.sparse_pointer_mode, handle, "cusparseGetPointerMode");
  take(getters.sparse_format, handle, "cusparseSpMatGetFormat");
  take(getters.sparse_batch, handle, "cusparseSpMatGetStridedBatch");
  take(getters.sparse_csr, handle, "cusparseCsrGet");
  take(getters.sparse_csc, handle, "cusparseCscGet");
  take(getters.sparse_coo, handle, "cusparseCooGet");
  take(getters.dense_matrix, handle, "cusparseDnMatGet");
  take(getters.dense_batch, handle, "cusparseDnMatGetStridedBatch");
  take(getters.dense_vector, handle, "cusparseDnVecGet");
  if (handle != nullptr) real_dlclose(handle);
  getters.ready.store(true, std::memory_order_release);
}

constexpr std::array<uint16_t, kRowCount> kByName = rows_by_name(kLibraryRows);

}  // namespace
}  // namespace prof::preload

extern "C" {
__attribute__((visibility("hidden"))) extern const char prof_library_thunks[], prof_library_thunks_end[];
// Real functions of calls that are not to be recorded, by slot. Null: prof_library_begin decides.
__attribute__((visibility("hidden"))) extern std::atomic<void*> prof_library_direct[];
__attribute__((visibility("hidden"))) prof::preload::ThunkAnswer prof_library_begin(prof::preload::ThunkCall* call);
__attribute__((visibility("hidden"))) void prof_library_end(prof::preload::ThunkCall* call);
}

using namespace prof::preload;

std::atomic<void*> prof_library_direct[kBanks * kRowCount];

namespace prof::preload {
namespace {

void* thunk(uint32_t bank, uint32_t row) {
  return const_cast<char*>(prof_library_thunks + (size_t{bank} * kRowCount + row) * kThunkBytes);
}

// Whether the bank's thunk of this row may replace `real`: it already does, or it replaces no function yet.
bool stands_for(Bank& bank, uint32_t row, void* real, const LoadedLibrary& library) {
  uintptr_t nobody = 0;
  if (!bank.base[library_of(row)].compare_exchange_strong(nobody, library.base) && nobody != library.base) return false;
  if (nobody == 0) open_again(library, RTLD_NODELETE);
  void* nothing = nullptr;
  return bank.real[row].compare_exchange_strong(nothing, real) || nothing == real;
}

// Whether the caller is in a library whose own function of that row is recorded. libcudnn.so.9 has each function twice:
// at its first call, one searches for the other in a sub-library.
bool forwards(uint32_t row, const void* caller) {
  const uintptr_t base = library_around(caller, nullptr, 0, nullptr).base;
  return std::ranges::any_of(g_banks, [&](const Bank& bank) {
    return base != 0 && bank.base[library_of(row)].load(std::memory_order_relaxed) == base &&
           bank.real[row].load(std::memory_order_acquire) != nullptr;
  });
}

// Objects are noted from the start of the process, because a plan that runs while something is recorded may be made
// long before.
ThunkAnswer note(Family family, const ThunkCall& call, uintptr_t library, void* real) {
  const auto pointer = [&](int n) { return reinterpret_cast<const void*>(call.words[n]); };
  const auto name = static_cast<uint32_t>(call.words[1]);
  const auto count = static_cast<int64_t>(call.words[3]);
  switch (family) {
    case Family::DescriptorSet: plan_attribute_set(pointer(0), name, count, pointer(4)); break;
    case Family::DescriptorQueried: plan_attribute_queried(pointer(0), name, count, pointer(5)); break;
    case Family::DescriptorDestroyed: plan_descriptor_destroyed(pointer(0)); break;
    case Family::FftDestroyed: fft_plan_destroyed(call.words[0], library); break;
    case Family::TensorSet:                  // its status is known after the call
    case Family::TensorsChanged:             // its arguments are on the stack
    case Family::FftPlan: return {real, 1};  // its plan number is known after the call
    default: break;
  }
  return {real, 0};
}

}  // namespace

namespace {

// The caller's stack arguments are after the saved frame pointer and the return address. The frame ends before these
// two.
LibraryArguments arguments_of(const ThunkCall* call) {
  return {call->words, reinterpret_cast<const uint64_t*>(call + 1) + 2};
}

}  // namespace

int library_row(const char* name) { return find_row(kLibraryRows, kByName, name); }

bool is_library_thunk(const void* pointer) {
  return pointer >= prof_library_thunks && pointer < prof_library_thunks_end;
}

bool library_has(uint32_t row) {
  const OwnCalls own;
  return find_plain(row, nullptr) != nullptr;
}

void* library_hook(uint32_t row, void* found, const void* caller) {
  if (found == nullptr || !row_wanted(row)) return nullptr;
  if (is_library_thunk(found)) return found;
  for (uint32_t bank = 0; bank < kBanks; ++bank) {
    if (g_banks[bank].real[row].load(std::memory_order_acquire) == found) return thunk(bank, row);
  }
  const OwnCalls own;
  if (forwards(row, caller)) return nullptr;
  bool defines[kExportedBanks];
  const LibraryFiles& files = files_of(row);
  const LoadedLibrary library = library_around(found, files.versions, kExportedBanks, defines);
  if (library.base == 0) return nullptr;
  for (uint32_t bank = 0; bank < kBanks; ++bank) {
    const bool unversioned = bank == 0 && files.versions[0][0] == '\0';
    if (bank < kExportedBanks && !defines[bank] && !unversioned) continue;
    if (stands_for(g_banks[bank], row, found, library)) return thunk(bank, row);
  }
  return nullptr;
}

}  // namespace prof::preload

// Runs before the real function. Returns which function that is and whether the call is recorded. Keeps errno.
ThunkAnswer prof_library_begin(ThunkCall* call) {
  const uint32_t slot = static_cast<uint32_t>(call->slot), bank = slot / kRowCount, row = slot % kRowCount;
  const int saved = errno;
  void* real = g_banks[bank].real[row].load(std::memory_order_acquire);
  if (real == nullptr) [[unlikely]] {
    real = resolve(bank, row, reinterpret_cast<const void*>(call->caller));
    errno = saved;
    if (real == nullptr) return {reinterpret_cast<void*>(no_library), 0};
  }
  if (!row_wanted(row)) [[unlikely]] {
    if (!read_options_once()) return {real, 0};
    prof_library_direct[slot].store(real, std::memory_order_release);
    return {real, 0};
  }
  if (inside_our_calls()) return {real, 0};
  if (const Family family = kLibraryRows[row].form.family; only_noted(family)) [[unlikely]]
    return note(family, *call, g_banks[bank].base[library_of(row)].load(std::memory_order_relaxed), real);
  const bool ready = thread_ready();
  const bool counted = starts_wanted(row);
  if (!ready && !counted) {
    errno = saved;
    return {real, 0};
  }
  call->epoch = ready ? t_local.epoch : 0;
  call->begin = ready ? now_ticks() : 0;
  if (counted) {
    LibraryGetters& getters = g_banks[bank].getters[library_of(row)];
    if (!getters.ready.load(std::memory_order_acquire)) [[unlikely]]
      find_getters(getters, real);
    collective_starts(row, arguments_of(call), getters, call->begin, ready);
  }
  errno = saved;
  return {real, ready || is_of_communicators(kLibraryRows[row].form.family) ? uint64_t{1} : 0};
}

// Runs after the real function and writes the record. What the call launched has records of its own, written before
// this one.
void prof_library_end(ThunkCall* call) {
  const uint32_t slot = static_cast<uint32_t>(call->slot), bank = slot / kRowCount, row = slot % kRowCount;
  const uintptr_t library = g_banks[bank].base[library_of(row)].load(std::memory_order_relaxed);
  const LibraryArguments arguments = arguments_of(call);
  const auto status = static_cast<uint32_t>(call->result);
  // Objects may be made before anything is recorded. There is no clock at that time.
  switch (const LibraryForm& form = kLibraryRows[row].form; form.family) {
    case Family::FftPlan: return fft_plan_made(row, arguments, library, status);
    case Family::TensorSet: return tensor_set(form, arguments, status);
    case Family::TensorsChanged: return tensors_changed(form, arguments);
    default: break;
  }
  const bool records = call->epoch != 0;
  const uint64_t end = records ? now_ticks() : 0;
  if (starts_wanted(row)) {
    const bool still = records && t_local.epoch == call->epoch && life().epoch.load(std::memory_order_relaxed) != 0;
    const int kept = errno;
    communicator_changes(row, arguments, g_banks[bank].getters[library_of(row)], still, status);
    errno = kept;
  }
  if (!records) return;
  if (t_local.epoch != call->epoch || life().epoch.load(std::memory_order_relaxed) != call->epoch) return;
  const int saved = errno;
  LibraryGetters& getters = g_banks[bank].getters[library_of(row)];
  if (!getters.ready.load(std::memory_order_acquire)) [[unlikely]]
    find_getters(getters, g_banks[bank].real[row].load(std::memory_order_relaxed));
  record_library_call(row, arguments, getters, library, {call->begin, end}, status);
  errno = saved;
}
