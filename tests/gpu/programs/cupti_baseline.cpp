// CUPTI alone: enables kernel, copy and memset activity, counts and sums the records, and writes the sums as JSON when
// the program ends. Two uses: the minimum cost of GPU times (the baseline for libprof.so), and a count of GPU
// operations that shares no code with libprof.so.
//
//   CUDA_INJECTION64_PATH=libcupti_baseline.so   the driver loads it in cuInit and calls InitializeInjection
//   LD_PRELOAD=… CUPTI_BASELINE_PRELOAD=1        the same from a constructor, if the driver does not inject
//   CUPTI_BASELINE_OUT=FILE    %p becomes the process id; without it nothing is written
//   CUPTI_BASELINE_NAMES=1     also per kernel name (one hash lookup per record, on CUPTI's thread); off when measuring
//                              cost
//   CUPTI_BASELINE_CALLS=1     also a record of each driver call that launches, which joins launches with their
//                              operations
//   CUPTI_BASELINE_LIB=FILE    the libcupti to open if the process has loaded none
#include <cupti.h>
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct Sum {
  uint64_t count = 0, total_ns = 0, min_ns = UINT64_MAX, max_ns = 0, bytes = 0, from_graphs = 0;
  void add(uint64_t ns, uint64_t size, bool graph) {
    ++count;
    total_ns += ns;
    min_ns = std::min(min_ns, ns);
    max_ns = std::max(max_ns, ns);
    bytes += size;
    from_graphs += graph;
  }
};

// Buffers are reused: a fresh 1 MiB allocation per buffer would charge page faults to CUPTI. 64 is far more than the
// largest observed number in use.
constexpr size_t kBufferBytes = 1 << 20;

struct State {
  std::mutex mutex;  // protects buffers and sums; locked once per buffer
  std::vector<uint8_t*> free_buffers;
  Sum kernels, fills;
  std::map<unsigned, Sum> copies;  // by copy kind
  std::map<std::string, Sum, std::less<>> by_name;
  uint64_t dropped = 0, other = 0, errors = 0;
  bool names = false;
  std::string cupti_path;
  uint32_t cupti_version = 0;
};
State& state() {
  static State* const s = new State;  // never destroyed: CUPTI's thread may outlive static destructors
  return *s;
}

#define CUPTI_FUNCTIONS(F)          \
  F(cuptiActivityRegisterCallbacks) \
  F(cuptiActivityEnable)            \
  F(cuptiActivityEnableDriverApi)   \
  F(cuptiActivityFlushAll) F(cuptiActivityGetNextRecord) F(cuptiActivityGetNumDroppedRecords) F(cuptiGetVersion)
struct Cupti {
#define F(name) decltype(&::name) name = nullptr;
  CUPTI_FUNCTIONS(F)
#undef F
} g_cupti;

void CUPTIAPI buffer_requested(uint8_t** buffer, size_t* size, size_t* max_records) {
  State& s = state();
  *size = kBufferBytes;
  *max_records = 0;
  const std::lock_guard lock(s.mutex);
  if (s.free_buffers.empty()) {
    *buffer = static_cast<uint8_t*>(aligned_alloc(ACTIVITY_RECORD_ALIGNMENT, kBufferBytes));
  } else {
    *buffer = s.free_buffers.back();
    s.free_buffers.pop_back();
  }
}
constexpr size_t kAlignmentIsAPowerOfTwo = ACTIVITY_RECORD_ALIGNMENT & (ACTIVITY_RECORD_ALIGNMENT - 1);
static_assert(kAlignmentIsAPowerOfTwo == 0);

void add_kernel(State& s, const CUpti_ActivityKernel10& k) {
  const uint64_t ns = k.end - k.start;
  s.kernels.add(ns, 0, k.graphNodeId != 0);
  if (!s.names || k.name == nullptr) return;
  auto at = s.by_name.find(std::string_view(k.name));
  if (at == s.by_name.end()) at = s.by_name.emplace(k.name, Sum{}).first;
  at->second.add(ns, 0, k.graphNodeId != 0);
}

void CUPTIAPI buffer_completed(CUcontext context, uint32_t stream, uint8_t* buffer, size_t, size_t valid) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  CUpti_Activity* record = nullptr;
  while (valid > 0) {
    const CUptiResult result = g_cupti.cuptiActivityGetNextRecord(buffer, valid, &record);
    if (result != CUPTI_SUCCESS) {
      if (result != CUPTI_ERROR_MAX_LIMIT_REACHED) ++s.errors;
      break;
    }
    switch (record->kind) {
      case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      case CUPTI_ACTIVITY_KIND_KERNEL: add_kernel(s, *reinterpret_cast<const CUpti_ActivityKernel10*>(record)); break;
      case CUPTI_ACTIVITY_KIND_MEMCPY: {
        const auto& c = *reinterpret_cast<const CUpti_ActivityMemcpy6*>(record);
        s.copies[c.copyKind].add(c.end - c.start, c.bytes, c.graphNodeId != 0);
        break;
      }
      case CUPTI_ACTIVITY_KIND_MEMCPY2: {
        const auto& c = *reinterpret_cast<const CUpti_ActivityMemcpyPtoP4*>(record);
        s.copies[c.copyKind].add(c.end - c.start, c.bytes, c.graphNodeId != 0);
        break;
      }
      case CUPTI_ACTIVITY_KIND_MEMSET: {
        const auto& f = *reinterpret_cast<const CUpti_ActivityMemset4*>(record);
        s.fills.add(f.end - f.start, f.bytes, f.graphNodeId != 0);
        break;
      }
      default: ++s.other;
    }
  }
  size_t dropped = 0;
  if (g_cupti.cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS) s.dropped += dropped;
  s.free_buffers.push_back(buffer);
}

// Kernel names are mangled identifiers, but a JIT may put anything into them.
void put_string(FILE* to, std::string_view text) {
  fputc('"', to);
  for (const char c : text) {
    if (c == '"' || c == '\\') fputc('\\', to);
    if (static_cast<unsigned char>(c) < 0x20) {
      fprintf(to, "\\u%04x", static_cast<unsigned>(c));
    } else {
      fputc(c, to);
    }
  }
  fputc('"', to);
}

void put_sum(FILE* to, const Sum& sum) {
  fprintf(to,
          "{\"count\": %llu, \"total_ns\": %llu, \"min_ns\": %llu, \"max_ns\": %llu, \"bytes\": %llu, "
          "\"from_graphs\": %llu}",
          static_cast<unsigned long long>(sum.count), static_cast<unsigned long long>(sum.total_ns),
          static_cast<unsigned long long>(sum.count == 0 ? 0 : sum.min_ns), static_cast<unsigned long long>(sum.max_ns),
          static_cast<unsigned long long>(sum.bytes), static_cast<unsigned long long>(sum.from_graphs));
}

void write_result() {
  g_cupti.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  const char* pattern = getenv("CUPTI_BASELINE_OUT");
  if (pattern == nullptr) return;
  std::string path = pattern;
  if (const size_t at = path.find("%p"); at != std::string::npos) path.replace(at, 2, std::to_string(getpid()));
  FILE* to = fopen(path.c_str(), "w");
  if (to == nullptr) {
    fprintf(stderr, "cupti_baseline: cannot write %s\n", path.c_str());
    return;
  }
  State& s = state();
  const std::lock_guard lock(s.mutex);
  fprintf(to, "{\"pid\": %d, \"cupti_version\": %u, \"cupti_path\": ", getpid(), s.cupti_version);
  put_string(to, s.cupti_path);
  fprintf(to, ", \"dropped\": %llu, \"other\": %llu, \"errors\": %llu,\n \"kernels\": ",
          static_cast<unsigned long long>(s.dropped), static_cast<unsigned long long>(s.other),
          static_cast<unsigned long long>(s.errors));
  put_sum(to, s.kernels);
  fputs(",\n \"fills\": ", to);
  put_sum(to, s.fills);
  fputs(",\n \"copies\": {", to);
  const char* comma = "";
  for (const auto& [kind, sum] : s.copies) {
    fprintf(to, "%s\"%u\": ", comma, kind);
    put_sum(to, sum);
    comma = ", ";
  }
  fputs("},\n \"by_name\": {", to);
  comma = "";
  for (const auto& [name, sum] : s.by_name) {
    fprintf(to, "%s\n  ", comma);
    put_string(to, name);
    fputs(": ", to);
    put_sum(to, sum);
    comma = ",";
  }
  fputs("}}\n", to);
  fclose(to);
}

bool open_cupti() {
  void* library = dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD);
  if (const char* path = getenv("CUPTI_BASELINE_LIB"); library == nullptr && path != nullptr && *path != 0) {
    library = dlopen(path, RTLD_NOW);
  }
  for (const char* name : {"libcupti.so.13", "/usr/local/cuda/lib64/libcupti.so.13",
                           "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13"}) {
    if (library == nullptr) library = dlopen(name, RTLD_NOW);
  }
  if (library == nullptr) {
    fprintf(stderr, "cupti_baseline: no libcupti.so.13: %s\n", dlerror());
    return false;
  }
#define F(name)                                                                   \
  g_cupti.name = reinterpret_cast<decltype(g_cupti.name)>(dlsym(library, #name)); \
  if (g_cupti.name == nullptr) {                                                  \
    fprintf(stderr, "cupti_baseline: %s is missing\n", #name);                    \
    return false;                                                                 \
  }
  CUPTI_FUNCTIONS(F)
#undef F
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(g_cupti.cuptiActivityEnable), &info) != 0) state().cupti_path = info.dli_fname;
  g_cupti.cuptiGetVersion(&state().cupti_version);
  return true;
}

int start() {
  static std::atomic<bool> started{false};
  if (started.exchange(true)) return 1;
  if (!open_cupti()) return 0;
  state().names = getenv("CUPTI_BASELINE_NAMES") != nullptr;
  if (g_cupti.cuptiActivityRegisterCallbacks(buffer_requested, buffer_completed) != CUPTI_SUCCESS) {
    fputs("cupti_baseline: cuptiActivityRegisterCallbacks failed\n", stderr);
    return 0;
  }
  for (const CUpti_ActivityKind kind : {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                        CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMSET}) {
    if (const CUptiResult result = g_cupti.cuptiActivityEnable(kind); result != CUPTI_SUCCESS) {
      fprintf(stderr, "cupti_baseline: cuptiActivityEnable(%d) gives %d\n", static_cast<int>(kind), result);
    }
  }
  if (getenv("CUPTI_BASELINE_CALLS") != nullptr) {
    for (const CUpti_CallbackId call :
         {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
          CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2, CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2,
          CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2, CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync,
          CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch}) {
      if (const CUptiResult result = g_cupti.cuptiActivityEnableDriverApi(call, 1); result != CUPTI_SUCCESS)
        fprintf(stderr, "cupti_baseline: cuptiActivityEnableDriverApi(%u) gives %d\n", call, static_cast<int>(result));
    }
  }
  atexit(write_result);
  return 1;
}

__attribute__((constructor)) void preloaded() {
  if (getenv("CUPTI_BASELINE_PRELOAD") != nullptr) start();
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjection() { return start(); }
