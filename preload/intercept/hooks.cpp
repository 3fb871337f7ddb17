// Instantiates the hook of every row and the entry that every exported symbol jumps to. No other file instantiates them
// all.
#include "preload/intercept/hooks.h"

#include "preload/intercept/hook.h"
#include "preload/intercept/proc_address.h"
#include "preload/intercept/records/record_context.h"
#include "preload/intercept/records/record_graph.h"
#include "preload/intercept/records/record_graph_build.h"
#include "preload/intercept/records/record_launch.h"
#include "preload/intercept/records/record_memory.h"
#include "preload/intercept/records/record_pool.h"
#include "preload/intercept/records/record_stream.h"
#include "preload/intercept/records/record_stream_memory.h"
#include "preload/intercept/resolve.h"
#include "preload/lifecycle/recording_period.h"

extern "C" {
// What the exported symbol of a row jumps to (exports.cpp): first Export::first, later the hook itself.
__attribute__((visibility("hidden"))) extern void* prof_exported[prof::preload::kApiCount];
}

namespace prof::preload {

#define PROF_FLAT_ROW(name) extern template struct Hook<Api::name>;
PROF_FLAT_ROWS(PROF_FLAT_ROW)
#undef PROF_FLAT_ROW

template <> struct Hook<Api::cuGetProcAddress> { static constexpr auto call = get_proc_address; };
template <> struct Hook<Api::cuGetProcAddress_v2> { static constexpr auto call = get_proc_address_v2; };

// The program reports which period is worth recording (PROF_START=profiler). The calls are recorded like other calls.
template <> struct Hook<Api::cuProfilerStart> {
  static CUresult CUDAAPI call() {
    profiler_started();
    PlainCall call(Api::cuProfilerStart, PROF_HOOK_FRAME());
    const CUresult result = real_of<Api::cuProfilerStart>()();
    return call.recording() ? call.leave(Api::cuProfilerStart, 0, result) : result;
  }
};
template <> struct Hook<Api::cuProfilerStop> {
  static CUresult CUDAAPI call() {
    PlainCall call(Api::cuProfilerStop, PROF_HOOK_FRAME());
    const CUresult result = real_of<Api::cuProfilerStop>()();
    if (call.recording()) call.leave(Api::cuProfilerStop, 0, result);
    profiler_stopped();
    return result;
  }
};

namespace {

// Exported symbols are for programs linked with -lcuda. Without a driver in the process, our export satisfies a weak
// reference of the program. It then returns the error of a machine without a GPU. The first call of a function must
// leave no frame of ours in its stack. For g++, CMakeLists.txt enables such tail calls in this file.
#if defined(__clang__)
#define PROF_TAIL_CALL [[clang::musttail]]
#else
#define PROF_TAIL_CALL
#endif

template <Api api, class Function = typename Row<api>::Function> struct Export;
template <Api api, class... Args> struct Export<api, CUresult(CUDAAPI*)(Args...)> {
  static CUresult first(Args... args) {
    if (!resolve_driver()) return CUDA_ERROR_NO_DEVICE;
    if (real_of<api>() == nullptr) return CUDA_ERROR_NOT_SUPPORTED;  // the driver is older than this function
    __atomic_store_n(&prof_exported[index_of(api)], g_hooks[index_of(api)], __ATOMIC_RELAXED);
    PROF_TAIL_CALL return Hook<api>::call(args...);
  }
};

}  // namespace

// Casts in place: if a function made the casts, both tables would be filled at every start of the program.
void* const g_hooks[kApiCount] = {
#define CUDA_API(name, ...) reinterpret_cast<void*>(Hook<Api::name>::call),
#include "preload/driver/cuda_api.def"
#undef CUDA_API
};

}  // namespace prof::preload

void* prof_exported[prof::preload::kApiCount] = {
#define CUDA_API(name, ...) reinterpret_cast<void*>(prof::preload::Export<prof::preload::Api::name>::first),
#include "preload/driver/cuda_api.def"
#undef CUDA_API
};
