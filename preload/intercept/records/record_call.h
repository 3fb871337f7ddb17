// What all topics share: what a hook reads from its arguments, and the plain ApiCall record. Topics whose calls launch
// nothing and finish nothing are here. The others are in record_launch.h, record_memory.h, record_stream.h,
// record_graph.h and record_context.h. It runs in the program.
#pragma once

#include "preload/capture/streams/streams.h"
#include "preload/capture/wait_flushes.h"
#include "preload/driver/api.h"
#include "preload/driver/null_stream.h"
#include "preload/lifecycle/call_scope.h"
#include "preload/record/thread_local.h"

#include <cuda.h>

#include <atomic>
#include <tuple>
#include <type_traits>

namespace prof::preload {

// The row that a topic is used for. The hook passes it to enter() and leave() as their first argument.
template <Api api> struct Caller {
  static constexpr Api kApi = api;
  static constexpr NullStream kNullStream = Row<api>::kNullStream;
  using Form = typename Row<api>::Form;
};

void define_api_slow(Api api);
inline void define_api(Api api) {
  if (g_driver_rows[index_of(api)].defined.load(std::memory_order_relaxed) != t_local.epoch) [[unlikely]]
    define_api_slow(api);
}

void record_call(const CallScope& scope, Api api, format::StreamId stream, uint64_t object, CUresult result);
// Records a call that waits for the GPU or queries whether it is done. The record has the call stack if stacks are
// recorded.
void record_wait(const CallScope& scope, Api api, format::StreamId stream, uint64_t object, CUresult result);

struct Arguments;  // record_arguments.h

// What a plain call keeps on the program's stack. Its functions are not inlined and keep errno.
class PlainCall {
 public:
  PlainCall(Api api, void* frame);
  PlainCall(Api api, void* frame, CUstream stream, NullStream null_stream);
  bool recording() const { return scope_.recording(); }
  CUresult leave(Api api, uint64_t object, CUresult result);  // returns the result
  CUresult leave(Api api, uint64_t object, CUresult result, const Arguments& said);

 private:
  CallScope scope_;
  StreamState* stream_ = nullptr;
};

template <class T, class... Args> inline constexpr bool kHas = (std::is_same_v<T, Args> || ...);

// The first argument of exactly type T. T{}: there is none.
template <class T> constexpr T argument() { return T{}; }
template <class T, class First, class... Rest> constexpr T argument(First first, Rest... rest) {
  if constexpr (std::is_same_v<T, First>) {
    return first;
  } else {
    return argument<T>(rest...);
  }
}

template <class First, class... Rest> constexpr First first_argument(First first, Rest...) { return first; }

// The argument at a position, from 0.
template <size_t at, class... Args> constexpr auto argument_at(Args... args) {
  static_assert(at < sizeof...(Args));
  return std::get<at>(std::tuple<Args...>(args...));
}
template <class... Args> constexpr auto last_argument(Args... args) {
  return argument_at<sizeof...(Args) - 1>(args...);
}

template <class T> inline uint64_t as_object(T value) {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<uint64_t>(value);
  } else {
    return static_cast<uint64_t>(value);
  }
}

// The handle that a record is about: the first argument of a type in this list. CUdeviceptr and allocation handles are
// unsigned long long.
inline uint64_t object_of() { return 0; }
template <class First, class... Rest> inline uint64_t object_of(First first, Rest... rest) {
  constexpr bool kHandle =
      kHas<First, CUevent, CUmodule, CUlibrary, CUkernel, CUfunction, CUgraphExec, CUgraph, CUcontext, CUmemoryPool,
           CUarray, CUmipmappedArray, CUgreenCtx, CUlinkState, CUgraphNode, CUexternalMemory, CUexternalSemaphore,
           CUgraphicsResource, unsigned long long>;
  if constexpr (kHandle) {
    return as_object(first);
  } else {
    return object_of(rest...);
  }
}

template <class C, class... Args> inline StreamState* stream_argument(C, Args... args) {
  if constexpr (kHas<CUstream, Args...>) {
    return stream_state(argument<CUstream>(args...), C::kNullStream);
  } else {
    return nullptr;
  }
}

namespace topic {

struct Nothing {};

// Two thirds of the rows are plain: around the real call they only write a record. They all share one function before
// and one after the real call (hook.h, PlainCall). A row therefore costs 60 bytes instead of 600, and a fifth of the
// time to compile.

// A call whose handle is recorded.
struct Call {
  static constexpr bool kNeedsGpuActivity = false;
  static constexpr bool kPlain = true;
  template <class... Args> static uint64_t object(CUresult, Args... args) { return object_of(args...); }
};

// A call whose first argument receives the handle it makes.
struct Create {
  static constexpr bool kNeedsGpuActivity = false;
  static constexpr bool kPlain = true;
  template <class Made, class... Args> static uint64_t object(CUresult result, Made* made, Args...) {
    return result == CUDA_SUCCESS && made != nullptr ? as_object(*made) : 0;
  }
};

}  // namespace topic
}  // namespace prof::preload
