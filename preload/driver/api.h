// The rows of cuda_api.def as types and tables. Each row has an enumerator, a prototype, a topic and a form. The hooks,
// the resolver and the exports include this file. A function that is added to the .def appears here without another
// edit. It runs in the program.
#pragma once

#include "preload/driver/api_number.h"
#include "preload/driver/newer_api.h"
#include "preload/driver/null_stream.h"
#include "preload/driver/operation_topics.h"
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
#define CUDA_API(name, ...) name,
#include "preload/driver/cuda_api.def"
#undef CUDA_API
};

inline constexpr const char* kApiNames[] = {
#define CUDA_API(name, ...) #name,
#include "preload/driver/cuda_api.def"
#undef CUDA_API
};
inline constexpr size_t kApiCount = sizeof(kApiNames) / sizeof(kApiNames[0]);

constexpr size_t index_of(Api api) { return static_cast<size_t>(api); }

// cuda.h appends these suffixes to the symbols of its per-thread default stream (__CUDA_API_PTSZ, __CUDA_API_PTDS). The
// name therefore defines in the ABI what a null stream means to a symbol.
constexpr NullStream null_stream_of(std::string_view name) {
  return name.ends_with("_ptsz") || name.ends_with("_ptds") ? NullStream::PerThread : NullStream::Legacy;
}

// The topics and forms that rows name. A record_*.h defines each of them.
namespace topic {
#define CUDA_API(name, about, ...) struct about;
#include "preload/driver/cuda_api.def"
#undef CUDA_API
}  // namespace topic
namespace form {
struct None;
#define CUDA_API(name, about, ...) __VA_OPT__(struct __VA_ARGS__;)
#include "preload/driver/cuda_api.def"
#undef CUDA_API
}  // namespace form

template <Api> struct Row;
template <class Form = form::None> using FormOr = Form;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // old launch forms are deprecated, and still called
#define CUDA_API(name, about, ...)                                   \
  template <> struct Row<Api::name> {                                \
    using Function = decltype(&::name);                              \
    using Topic = topic::about;                                      \
    using Form = FormOr<__VA_OPT__(form::__VA_ARGS__)>;              \
    static constexpr NullStream kNullStream = null_stream_of(#name); \
    static constexpr bool kIsLaunch = is_launch_topic(#about);       \
  };
#include "preload/driver/cuda_api.def"
#undef CUDA_API
#pragma GCC diagnostic pop

// What each call of a row reads, in one cache line.
struct alignas(32) DriverRow {
  // The driver's own function. Null: this driver has no such symbol, or there is no driver. resolve.cpp sets it before
  // a program can reach the hook. It sets it again if the driver was unloaded and is loaded at another address.
  std::atomic<void*> real;
  std::atomic<uint64_t> defined;  // epoch of the recording whose log has the name
  ApiNumber number;               // number of the function in the log
};
extern DriverRow g_driver_rows[kApiCount];

inline format::ApiId api_id(Api api) { return api_id(g_driver_rows[index_of(api)].number); }

template <Api api> inline typename Row<api>::Function real_of() {
  return reinterpret_cast<typename Row<api>::Function>(
      g_driver_rows[index_of(api)].real.load(std::memory_order_relaxed));
}

}  // namespace prof::preload
