// A program that profiles itself with CUPTI while libprof.so records it. Usage: profiled_program N STEP…, steps in
// order:
//   clock       registers its own clock (three ticks per nanosecond)
//   system      requests system thread ids instead of pthread's
//   register    registers its buffers
//   subscribe   subscribes to callbacks of cuLaunchKernel
//   start       registers its buffers and enables kernels, copies, fills and driver calls
//   stop        disables them and flushes
//   try         registers its buffers and prints CUPTI's result
//   serial      enables serialized kernels instead
//   work        N kernels on a stream, a copy and a fill; waits for them and prints what CUPTI delivered since the last
//               work
//   work_alone  the same without using CUPTI
//   say         prints what CUPTI delivered
//   finalize    cuptiFinalize
// Compiled twice: with TOOL_LINKED it calls the functions it was linked with, otherwise those that dlsym finds.
#include "tests/sim/sim_program.h"

#include <cupti.h>
#include <dlfcn.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <cstring>
#include <mutex>
#include <string>

namespace {

using namespace sim_program;

template <class Function> Function* found([[maybe_unused]] const char* name, [[maybe_unused]] Function* linked) {
#ifdef TOOL_LINKED
  return linked;
#else
  static void* const library = dlopen(getenv("TOOL_CUPTI"), RTLD_NOW);
  auto* const function = library != nullptr ? reinterpret_cast<Function*>(dlsym(library, name)) : nullptr;
  if (function == nullptr) exit(98);
  return function;
#endif
}
#ifdef TOOL_LINKED
#define TOOL(name) found(#name, &name)
#else
#define TOOL(name) found<decltype(name)>(#name, nullptr)
#endif

void must(CUptiResult result, const char* what) {
  if (result == CUPTI_SUCCESS) return;
  fprintf(stderr, "%s: %d\n", what, result);
  exit(97);
}
#define MUST(name, ...) must(TOOL(name)(__VA_ARGS__), #name)

uint64_t nanoseconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}
uint64_t own_clock() { return 3 * nanoseconds(CLOCK_MONOTONIC) + 7; }

bool with_own_clock = false, with_system_ids = false;
uint64_t now() { return with_own_clock ? own_clock() : nanoseconds(CLOCK_REALTIME); }
uint64_t from = 0;  // when the counted work began

std::mutex mutex;
struct {
  int kernels = 0, serial = 0, copies = 0, fills = 0, launches = 0, driver = 0, other = 0, early = 0, late = 0,
      threads = 0;
} seen;
int callbacks = 0;
int given = 0, returned = 0;  // buffers
bool unflushed = false;       // since work_alone
const auto main_thread = static_cast<uint32_t>(pthread_self());

void requested(uint8_t** buffer, size_t* size, size_t* most) {
  {
    const std::lock_guard lock(mutex);
    ++given;
  }
  *size = 4096;  // several of its buffers for one of libprof's
  *buffer = static_cast<uint8_t*>(aligned_alloc(8, *size));
  *most = 0;
}

// Checks that the record's times are in this program's clock and within its work.
void check_times(uint64_t start, uint64_t end) {
  if (start < from || end < start) ++seen.early;
  if (end > now()) ++seen.late;
}

void completed(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  const std::lock_guard lock(mutex);
  ++returned;
  CUpti_Activity* record = nullptr;
  while (TOOL(cuptiActivityGetNextRecord)(buffer, valid, &record) == CUPTI_SUCCESS) {
    switch (record->kind) {
      case CUPTI_ACTIVITY_KIND_KERNEL:
      case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
        const auto* const kernel = reinterpret_cast<const CUpti_ActivityKernel10*>(record);
        record->kind == CUPTI_ACTIVITY_KIND_KERNEL ? ++seen.serial : ++seen.kernels;
        check_times(kernel->start, kernel->end);
        break;
      }
      case CUPTI_ACTIVITY_KIND_MEMCPY: ++seen.copies; break;
      case CUPTI_ACTIVITY_KIND_MEMSET: ++seen.fills; break;
      case CUPTI_ACTIVITY_KIND_DRIVER: {
        const auto* const call = reinterpret_cast<const CUpti_ActivityAPI*>(record);
        if (call->cbid == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel) {
          ++seen.launches;
          check_times(call->start, call->end);
        } else {
          ++seen.driver;  // including those before the work
        }
        if (call->threadId == (with_system_ids ? static_cast<uint32_t>(getpid()) : main_thread)) ++seen.threads;
        break;
      }
      default: ++seen.other;
    }
  }
  free(buffer);
}

void callback(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) { ++callbacks; }

constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                         CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_DRIVER};

void work(int count) {
  {
    const std::lock_guard lock(mutex);
    seen = {};
    callbacks = 0;
    from = now();
  }
  const CUstream stream = make_stream();
  const CUdeviceptr memory = allocate(4096);
  static char host[4096];
  SIM_CHECK(cuMemsetD8Async(memory, 1, 4096, stream));
  SIM_CHECK(cuMemcpyHtoDAsync(memory, host, sizeof host, stream));
  for (int i = 0; i < count; ++i) SIM_CHECK(launch(kernel("alpha"), stream));
  SIM_CHECK(cuCtxSynchronize());
  SIM_CHECK(cuStreamDestroy(stream));
  SIM_CHECK(cuMemFree(memory));
}

void say() {
  const std::lock_guard lock(mutex);
  printf("kernels %d serial %d copies %d fills %d launches %d other %d early %d late %d", seen.kernels, seen.serial,
         seen.copies, seen.fills, seen.launches, seen.other, seen.early, seen.late);
  printf(" threads %s callbacks %d\n", seen.threads == seen.launches + seen.driver ? "right" : "wrong", callbacks);
  fflush(stdout);
}

void step(const std::string& what, int count) {
  static CUpti_SubscriberHandle subscriber = nullptr;
  if (what == "clock") {
    with_own_clock = true;
    MUST(cuptiActivityRegisterTimestampCallback, own_clock);
  } else if (what == "system") {
    with_system_ids = true;
    MUST(cuptiSetThreadIdType, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  } else if (what == "register") {
    MUST(cuptiActivityRegisterCallbacks, requested, completed);
  } else if (what == "try") {
    printf("start: %d\n", static_cast<int>(TOOL(cuptiActivityRegisterCallbacks)(requested, completed)));
    fflush(stdout);
  } else if (what == "subscribe") {
    MUST(cuptiSubscribe, &subscriber, reinterpret_cast<CUpti_CallbackFunc>(callback), nullptr);
    MUST(cuptiEnableCallback, 1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
  } else if (what == "start" || what == "serial") {
    MUST(cuptiActivityRegisterCallbacks, requested, completed);
    for (const CUpti_ActivityKind kind : kKinds) {
      const bool serial = what == "serial" && kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
      MUST(cuptiActivityEnable, serial ? CUPTI_ACTIVITY_KIND_KERNEL : kind);
    }
  } else if (what == "stop") {
    for (const CUpti_ActivityKind kind : kKinds) MUST(cuptiActivityDisable, kind);
    MUST(cuptiActivityDisable, CUPTI_ACTIVITY_KIND_KERNEL);
    const auto outstanding = [] {
      const std::lock_guard lock(mutex);
      return given - returned;
    };
    if (unflushed && outstanding() == 0) exit(95);  // torch.profiler flushes only if it gave a buffer away
    MUST(cuptiActivityFlushAll, 1);
    if (outstanding() != 0) exit(94);
  } else if (what == "finalize") {
    MUST(cuptiFinalize);
  } else if (what == "work_alone") {
    work(count);
    unflushed = true;
  } else if (what == "say") {
    say();
  } else if (what == "work") {
    work(count);
    MUST(cuptiActivityFlushAll, 0);
    unflushed = false;
    say();
  } else {
    exit(96);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int count = argc > 1 ? atoi(argv[1]) : 10;
  bool context = false;
  for (int i = 2; i < argc; ++i) {
    if (strncmp(argv[i], "work", 4) == 0 && !context) {
      make_context();
      context = true;
    }
    step(argv[i], count);
  }
  return 0;
}
