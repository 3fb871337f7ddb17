// The rows of cuda_api.def as types and tables: one enumerator, one prototype and one topic a row. In the program.
// Included by the hooks, the resolver and the exports; adding a function to the .def is all it takes to appear here.
#pragma once

#include "preload/driver/api_number.h"
#include "preload/driver/newer_api.h"
#include "preload/driver/null_stream.h"
#include "preload/format/ids.h"

#include <cuda.h>
#include <cudaProfiler.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#ifndef __CUDA_API_VERSION_INTERNAL
#error "compile with -D__CUDA_API_VERSION_INTERNAL: cuda.h then declares every exported symbol under its own name"
#endif

namespace prof::preload {

enum class Api : uint16_t {
#define CUDA_API(name, topic) name,
#include "preload/driver/cuda_api.def"
#undef CUDA_API
};

inline constexpr const char* kApiNames[] = {
#define CUDA_API(name, topic) #name,
#include "preload/driver/cuda_api.def"
#undef CUDA_API
};
inline constexpr size_t kApiCount = sizeof(kApiNames) / sizeof(kApiNames[0]);

constexpr size_t index_of(Api api) { return static_cast<size_t>(api); }

// What a null stream means to a symbol is written in its name.
constexpr NullStream null_stream_of(std::string_view name) {
  return name.ends_with("_ptsz") || name.ends_with("_ptds") ? NullStream::PerThread : NullStream::Legacy;
}

// Tags of the topics; each is defined in a record_*.h.
// Release 14 of the formatter indents such a list anew each time.
// clang-format off
#define PROF_TOPICS(X)                                                                                                 \
  X(Launch)                                                                                                            \
  X(LaunchMany) X(GraphLaunch) X(GraphInstantiate) X(GraphExecDestroy) X(GraphCreate) X(GraphClone) X(GraphAdd) X(GraphNodeChange) X(GraphExecChange) X(GraphUpdate) X(StreamWork) X(WaitValue) X(WriteValue) X(MemoryBatch) X(ContextEvent) X(CopyToHost) X(CopyFromHost) X(CopyNull)       \
      X(CopyAsync) X(FillNull) X(FillAsync) X(Alloc) X(MapExternal) X(Register) X(Free) X(PoolCreate) X(PoolDestroy) X(PoolChoose) X(Create) X(CreateSaying) X(Call) X(CallSaying) X(ArrayCreate) X(ArrayFree) X(StreamCreate)             \
          X(StreamDestroy) X(StreamFinish) X(CaptureBegin) X(CaptureEnd) X(EventRecord) X(EventFinish) X(EventDestroy) \
              X(ContextCreate) X(ContextDestroy) X(ContextFinish) X(PrimaryRelease) X(GreenConvert) X(GreenStreamCreate) X(GreenDestroy) X(Unload) X(FunctionGet)           \
                  X(ProcAddress)
// clang-format on
namespace topic {
#define PROF_TOPIC(name) struct name;
PROF_TOPICS(PROF_TOPIC)
#undef PROF_TOPIC
}  // namespace topic

template <Api> struct Row;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // old launch forms are deprecated, and still called
#define CUDA_API(name, about)                                        \
  template <> struct Row<Api::name> {                                \
    using Function = decltype(&::name);                              \
    using Topic = topic::about;                                      \
    static constexpr NullStream kNullStream = null_stream_of(#name); \
  };
#include "preload/driver/cuda_api.def"
#undef CUDA_API
#pragma GCC diagnostic pop

// What each call of a row reads, in one line of the cache.
struct alignas(32) DriverRow {
  // The driver's own function; null where this driver has no such symbol or there is no driver. Set by resolve.cpp before any hook can
  // be reached, and again when the driver was unloaded and came back elsewhere.
  std::atomic<void*> real;
  std::atomic<uint64_t> defined;  // the life in which its name was written to the log
  ApiNumber number;               // in the log
};
extern DriverRow g_driver_rows[kApiCount];

inline format::ApiId api_id(Api api) { return api_id(g_driver_rows[index_of(api)].number); }

template <Api api> inline typename Row<api>::Function real_of() {
  return reinterpret_cast<typename Row<api>::Function>(
      g_driver_rows[index_of(api)].real.load(std::memory_order_relaxed));
}

}  // namespace prof::preload
