// Copies and fills (MemoryLaunch), memory allocated and freed (AllocCall). Which of the driver's copies wait for what is from
// the "API synchronization behavior" chapter of its manual. In the program.
#pragma once

#include "preload/capture/streams/pools.h"
#include "preload/driver/null_stream.h"
#include "preload/intercept/records/array_bytes.h"
#include "preload/intercept/records/record_arguments.h"
#include "preload/intercept/records/record_launch.h"
#include "preload/lifecycle/call_scope.h"

namespace prof::preload {

// Bytes that a copy moves. Linear copies: the last argument before the stream. Never reads through a null pointer.
template <class... Args> inline uint64_t copy_bytes(CUdeviceptr*, CUdeviceptr*, size_t* sizes, size_t count, Args...) {
  uint64_t sum = 0;
  for (size_t i = 0; sizes != nullptr && i < count; ++i) sum += sizes[i];
  return sum;
}
template <class... Args> inline uint64_t copy_bytes(size_t count, CUDA_MEMCPY3D_BATCH_OP* list, Args...) {
  uint64_t sum = 0;
  for (size_t i = 0; list != nullptr && i < count; ++i) {
    sum += static_cast<uint64_t>(list[i].extent.width) * list[i].extent.height * list[i].extent.depth;
  }
  return sum;
}
inline uint64_t copy_bytes(CUDA_MEMCPY3D_BATCH_OP* copy, unsigned long long, CUstream) {
  return copy_bytes(size_t{1}, copy);
}
// cuMemcpyWithAttributesAsync
inline uint64_t copy_bytes(CUdeviceptr, CUdeviceptr, size_t size, CUmemcpyAttributes*, CUstream) { return size; }
template <class Shape> inline uint64_t copy_bytes(const Shape* shape) {
  if (shape == nullptr) return 0;
  uint64_t bytes = static_cast<uint64_t>(shape->WidthInBytes) * shape->Height;
  if constexpr (requires { shape->Depth; }) bytes *= shape->Depth;
  return bytes;
}
template <class Shape> inline uint64_t copy_bytes(const Shape* shape, CUstream) { return copy_bytes(shape); }
template <class First, class Second, class... Rest> inline uint64_t copy_bytes(First, Second second, Rest... rest) {
  if constexpr (sizeof...(Rest) == 0 || (sizeof...(Rest) == 1 && kHas<CUstream, Rest...>)) {
    return static_cast<uint64_t>(second);
  } else {
    return copy_bytes(second, rest...);
  }
}

// How many copies a batch asks for: cuMemcpyBatchAsync, cuMemcpy3DBatchAsync. No other call has such arguments.
template <class... Args>
constexpr uint64_t copies_in_batch(CUdeviceptr*, CUdeviceptr*, size_t*, size_t count, Args...) {
  return count;
}
template <class... Args> constexpr uint64_t copies_in_batch(size_t count, CUDA_MEMCPY3D_BATCH_OP*, Args...) {
  return count;
}
template <class... Args>
concept IsCopyBatch = requires(Args... args) {
  copies_in_batch(args...);
};

// (address, value, count) or (address, pitch, value, width, height); the value's type is the width of an element.
template <class A, class V, class N> inline uint64_t fill_bytes(A, V, N count) { return sizeof(V) * uint64_t{count}; }
template <class A, class V, class N> inline uint64_t fill_bytes(A, V, N count, CUstream) {
  return sizeof(V) * uint64_t{count};
}
template <class A, class P, class V, class N> inline uint64_t fill_bytes(A, P, V, N width, N height) {
  return sizeof(V) * uint64_t{width} * uint64_t{height};
}
template <class A, class P, class V, class N> inline uint64_t fill_bytes(A, P, V, N width, N height, CUstream) {
  return sizeof(V) * uint64_t{width} * uint64_t{height};
}

void record_memory(const CallScope& scope, Api api, const Launching& state, uint64_t bytes, CUresult result);
void record_alloc(const CallScope& scope, Api api, uint64_t address, uint64_t bytes, StreamState* stream,
                  CUresult result, format::ContextId context = {}, format::PoolId pool = {});

// Device memory that no stream orders belongs to the device of the current context.
constexpr bool is_of_the_context(Api api) {
  return std::string_view(kApiNames[index_of(api)]).find("Host") == std::string_view::npos &&
         api != Api::cuMemAddressReserve;
}

namespace topic {

struct MemoryState {
  Launching launch;
  uint64_t before;  // launches on the stream when the call was entered
};

// What a returned call says about the stream it used.
enum class Returns { Queued, StreamWasDone, Done };

template <bool kFill, Returns kReturns> struct Memory {
  static constexpr bool kNeedsGpuActivity = true, kMadeAgain = kFill;
  // For a fill that may be made again: its stream, and whether it becomes no node of a graph.
  template <class... Args> static CUstream stream(Args... args) { return argument<CUstream>(args...); }
  template <NullStream null_stream, class... Args> static bool is_queued(Args... args) {
    return !captured(stream(args...), null_stream);
  }
  template <class C, class... Args> static MemoryState enter(C, const CallScope&, Args... args) {
    MemoryState state;
    state.launch = enter_launch(argument<CUstream>(args...), C::kNullStream);
    state.before = kReturns == Returns::Queued ? 0 : launches_so_far(state.launch.stream);
    return state;
  }
  template <class C, class... Args>
  static void leave(C, const CallScope& scope, MemoryState& state, CUresult result, Args... args) {
    count_launch(scope, state.launch, argument<CUstream>(args...), result, 1, false);
    if (kReturns != Returns::Queued && result == CUDA_SUCCESS) {
      completed(state.launch.stream, state.before + (kReturns == Returns::Done ? 1 : 0));
    }
    uint64_t bytes;
    if constexpr (kFill) {
      bytes = fill_bytes(args...);
    } else {
      bytes = result == CUDA_SUCCESS ? copy_bytes(args...) : 0;
    }
    if constexpr (IsCopyBatch<Args...>) {
      Arguments said;
      said.count = copies_in_batch(args...);
      if (!is_left_out(state.launch.stream)) record_arguments(scope, said);
    }
    record_memory(scope, C::kApi, state.launch, bytes, result);
  }
};

struct CopyToHost : Memory<false, Returns::Done> {};
struct CopyFromHost : Memory<false, Returns::StreamWasDone> {
};  // the copy itself may still be on its way from a staging buffer
struct CopyNull : Memory<false, Returns::Queued> {};
struct CopyAsync : Memory<false, Returns::Queued> {};
struct FillNull : Memory<true, Returns::Queued> {};
struct FillAsync : Memory<true, Returns::Queued> {};

// First argument: where the address goes. Then the size, or for cuMemAllocPitch the pitch that the driver chose.
struct Alloc {
  static constexpr bool kNeedsGpuActivity = false;
  template <class C, class... Args> static StreamState* enter(C c, const CallScope&, Args... args) {
    return stream_argument(c, args...);
  }
  template <class C, class Address, class Size, class... Rest>
  static void leave(C, const CallScope& scope, StreamState* stream, CUresult result, Address* address, Size size,
                    Rest... rest) {
    uint64_t bytes;
    if constexpr (std::is_pointer_v<Size>) {
      bytes = result == CUDA_SUCCESS && size != nullptr ? uint64_t{*size} * second(rest...) : 0;
    } else {
      bytes = size;
    }
    const bool made = result == CUDA_SUCCESS && address != nullptr;
    format::ContextId context{};
    format::PoolId pool{};
    if constexpr (kHas<CUstream, Rest...>) {
      const CUstream handle = argument<CUstream>(rest...);
      if (made && is_captured(stream, handle)) [[unlikely]] {
        record_captured_node(scope, stream, handle);  // the memory is the graph's, of no pool
      } else if (made) {
        pool = kHas<CUmemoryPool, Rest...> ? pool_id(argument<CUmemoryPool>(rest...)) : pool_behind(stream);
      }
    } else if constexpr (is_of_the_context(C::kApi)) {
      context = context_id(nullptr);
    }
    if constexpr (SaysMore<Address*, Size, Rest...>) record_arguments(scope, said_by(result, address, size, rest...));
    record_alloc(scope, C::kApi, made ? as_object(*address) : 0, bytes, stream, result, context, pool);
  }
  template <class Width, class Height, class... Rest> static uint64_t second(Width, Height height, Rest...) {
    return height;
  }
};

// (where the address goes, external memory, description with the size)
struct MapExternal {
  static constexpr bool kNeedsGpuActivity = false;
  template <class C, class... Args> static Nothing enter(C, const CallScope&, Args...) { return {}; }
  template <class C>
  static void leave(C, const CallScope& scope, Nothing, CUresult result, CUdeviceptr* address, CUexternalMemory,
                    const CUDA_EXTERNAL_MEMORY_BUFFER_DESC* what) {
    const bool made = result == CUDA_SUCCESS && address != nullptr;
    record_alloc(scope, C::kApi, made ? *address : 0, made && what != nullptr ? what->size : 0, nullptr, result);
  }
};

// First argument: an address the program has; then its size.
struct Register {
  static constexpr bool kNeedsGpuActivity = false;
  template <class C, class... Args> static Nothing enter(C, const CallScope&, Args...) { return {}; }
  template <class C, class Address, class Size, class... Rest>
  static void leave(C, const CallScope& scope, Nothing, CUresult result, Address address, Size size, Rest... rest) {
    if constexpr (SaysMore<Address, Size, Rest...>) record_arguments(scope, said_by(result, address, size, rest...));
    record_alloc(scope, C::kApi, as_object(address), size, nullptr, result);
  }
};

// (where the handle goes, description, levels). The handle stands for the address.
struct ArrayCreate {
  static constexpr bool kNeedsGpuActivity = false;
  template <class C, class... Args> static Nothing enter(C, const CallScope&, Args...) { return {}; }
  template <class C, class Array, class... Args>
  static void leave(C, const CallScope& scope, Nothing, CUresult result, Array* made, Args... args) {
    const bool ok = result == CUDA_SUCCESS && made != nullptr;
    record_alloc(scope, C::kApi, ok ? as_object(*made) : 0, ok ? bytes_of(args...) : 0, nullptr, result,
                 context_id(nullptr));
  }

 private:
  template <class What, class... Levels> static uint64_t bytes_of(const What* what, Levels... levels) {
    return array_bytes(what, levels...);
  }
  // cuExternalMemoryGetMappedMipmappedArray: the memory is another's.
  static uint64_t bytes_of(CUexternalMemory, const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC*) { return 0; }
};

struct Free {
  static constexpr bool kNeedsGpuActivity = false;
  template <class C, class... Args> static StreamState* enter(C c, const CallScope&, Args... args) {
    return stream_argument(c, args...);
  }
  template <class C, class... Args>
  static void leave(C, const CallScope& scope, StreamState* stream, CUresult result, Args... args) {
    if constexpr (kHas<CUstream, Args...>) record_if_captured(scope, stream, argument<CUstream>(args...), result);
    record_alloc(scope, C::kApi, as_object(first_argument(args...)), 0, stream, result);
  }
};

struct ArrayFree : Free {};

}  // namespace topic
}  // namespace prof::preload
