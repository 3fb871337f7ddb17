// Copies and fills (MemoryLaunch), memory allocated and freed (AllocCall). Which of the driver's copies wait for what
// is in its manual, chapter "API synchronization behavior". It runs in the program.
#pragma once

#include "preload/capture/streams/pools.h"
#include "preload/driver/null_stream.h"
#include "preload/intercept/records/array_bytes.h"
#include "preload/intercept/records/record_arguments.h"
#include "preload/intercept/records/record_launch.h"
#include "preload/lifecycle/call_scope.h"

namespace prof::preload {

// What do the functions of the topics below copy, fill or allocate? One form for each list of arguments.
namespace form {

// Copies. bytes(): how many bytes a successful call copies.

// Argument `at` is the number of bytes.
template <size_t at> struct BytesAt {
  template <class... Args> static uint64_t bytes(Args... args) {
    const auto size = argument_at<at>(args...);
    static_assert(kHas<std::remove_const_t<decltype(size)>, size_t, unsigned>);  // unsigned: functions of CUDA 3
    return size;
  }
};
struct Bytes2 : BytesAt<2> {};
struct Bytes3 : BytesAt<3> {};
struct Bytes4 : BytesAt<4> {};

// (description[, stream])
struct Rectangle {
  template <class Shape, class... Stream> static uint64_t bytes(const Shape* shape, Stream...) {
    return shape != nullptr ? static_cast<uint64_t>(shape->WidthInBytes) * shape->Height : 0;
  }
};
struct Box {
  template <class Shape, class... Stream> static uint64_t bytes(const Shape* shape, Stream...) {
    return shape != nullptr ? static_cast<uint64_t>(shape->WidthInBytes) * shape->Height * shape->Depth : 0;
  }
};

// Several copies in one call. copies(): how many.
//
// (destinations, sources, sizes, count, …)
struct Batch {
  template <class... Args>
  static uint64_t bytes(CUdeviceptr*, CUdeviceptr*, const size_t* sizes, size_t count, Args...) {
    uint64_t sum = 0;
    for (size_t i = 0; sizes != nullptr && i < count; ++i) sum += sizes[i];
    return sum;
  }
  template <class... Args> static uint64_t copies(CUdeviceptr*, CUdeviceptr*, const size_t*, size_t count, Args...) {
    return count;
  }
};
// (count, operations, …)
struct BoxBatch {
  template <class... Args> static uint64_t bytes(size_t count, const CUDA_MEMCPY3D_BATCH_OP* list, Args...) {
    uint64_t sum = 0;
    for (size_t i = 0; list != nullptr && i < count; ++i) {
      sum += static_cast<uint64_t>(list[i].extent.width) * list[i].extent.height * list[i].extent.depth;
    }
    return sum;
  }
  template <class... Args> static uint64_t copies(size_t count, const CUDA_MEMCPY3D_BATCH_OP*, Args...) {
    return count;
  }
};
// (operation, flags, stream)
struct BoxOperation {
  static uint64_t bytes(const CUDA_MEMCPY3D_BATCH_OP* copy, unsigned long long, CUstream) {
    return BoxBatch::bytes(1, copy);
  }
};

// Fills. bytes(): how many bytes the call fills. The value has the width of an element.

// (address, value, count[, stream])
struct Elements {
  template <class Address, class Value, class Count, class... Stream>
  static uint64_t bytes(Address, Value, Count count, Stream...) {
    return sizeof(Value) * uint64_t{count};
  }
};
// (address, pitch, value, width, height[, stream])
struct PitchedElements {
  template <class Address, class Pitch, class Value, class Size, class... Stream>
  static uint64_t bytes(Address, Pitch, Value, Size width, Size height, Stream...) {
    return sizeof(Value) * uint64_t{width} * uint64_t{height};
  }
};

// Allocations: (where the address is stored, …). bytes(): computed from the other arguments.
enum class Owner {
  None,     // host memory, or addresses without memory
  Context,  // the current context
  Pool,     // the pool in the arguments, or the one that the stream uses
};
enum class Flags { None, Recorded };
template <Owner owner, Flags flags = Flags::None> struct Allocation {
  static constexpr Owner kOwner = owner;
  static constexpr bool kHasFlags = flags == Flags::Recorded;
  template <class Size, class... Rest> static uint64_t bytes(CUresult, Size size, Rest...) { return size; }
};
struct ContextMemory : Allocation<Owner::Context> {};
struct ManagedMemory : Allocation<Owner::Context, Flags::Recorded> {};
// (…, where the driver stores the pitch that it chooses, width, height, element size)
struct PitchedMemory : Allocation<Owner::Context> {
  template <class Size> static uint64_t bytes(CUresult result, const Size* pitch, Size, Size height, unsigned) {
    return result == CUDA_SUCCESS && pitch != nullptr ? uint64_t{*pitch} * height : 0;
  }
};
struct HostMemory : Allocation<Owner::None> {};
struct HostMemoryWithFlags : Allocation<Owner::None, Flags::Recorded> {};
struct AddressRange : Allocation<Owner::None> {};
struct StreamMemory : Allocation<Owner::Pool> {
  static format::PoolId pool(const StreamState* state, CUstream) { return pool_behind(state); }
};
struct PoolMemory : Allocation<Owner::Pool> {
  static format::PoolId pool(const StreamState*, CUmemoryPool pool, CUstream) { return pool_id(pool); }
};

// Memory that already exists: (address, size, …)
struct HostRange {
  static constexpr bool kHasFlags = true;
};
struct MappedRange {
  static constexpr bool kHasFlags = false;
};

// Arrays: (where the handle is stored, …). bytes(): computed from the other arguments.
struct OwnArray {
  template <class Description, class... Levels> static uint64_t bytes(const Description* what, Levels... levels) {
    return array_bytes(what, levels...);
  }
};
// The memory belongs to another allocation.
struct ExternalArray {
  static uint64_t bytes(CUexternalMemory, const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC*) { return 0; }
};

}  // namespace form

void record_memory(const CallScope& scope, Api api, const Launching& state, uint64_t bytes, CUresult result);
void record_alloc(const CallScope& scope, Api api, uint64_t address, uint64_t bytes, StreamState* stream,
                  CUresult result, format::ContextId context = {}, format::PoolId pool = {});

namespace topic {

struct MemoryState {
  Launching launch;
  StreamPoint before;  // on the stream when the call was entered
};

// What the return of a call means for the stream that it used.
enum class Returns { Queued, StreamWasDone, Done };

template <bool kFill, Returns kReturns> struct Memory {
  static constexpr bool kNeedsGpuActivity = true, kMadeAgain = kFill;
  // For a fill that may be repeated: its stream, and whether it is queued and not captured into a graph.
  template <class... Args> static CUstream stream(Args... args) { return argument<CUstream>(args...); }
  template <class C, class... Args> static bool is_queued(C, Args... args) {
    return !captured(stream(args...), C::kNullStream);
  }
  template <class C, class... Args> static MemoryState enter(C, const CallScope&, Args... args) {
    MemoryState state;
    state.launch = enter_launch(argument<CUstream>(args...), C::kNullStream);
    if constexpr (kReturns != Returns::Queued) state.before = point_so_far(state.launch.stream);
    return state;
  }
  template <class C, class... Args>
  static void leave(C, const CallScope& scope, MemoryState& state, CUresult result, Args... args) {
    count_launch(scope, state.launch, argument<CUstream>(args...), result, 1, false);
    if (kReturns != Returns::Queued && result == CUDA_SUCCESS) {
      completed(state.launch.stream, state.before, kReturns == Returns::Done ? 1 : 0);
    }
    // The lists of a failed copy may be invalid.
    const uint64_t bytes = kFill || result == CUDA_SUCCESS ? C::Form::bytes(args...) : 0;
    if constexpr (requires { C::Form::copies(args...); }) {
      Arguments said;
      said.count = C::Form::copies(args...);
      if (!is_left_out(state.launch.stream)) record_arguments(scope, said);
    }
    record_memory(scope, C::kApi, state.launch, bytes, result);
    if (kReturns != Returns::Queued && result == CUDA_SUCCESS) want_flush_after_wait();
  }
};

struct CopyToHost : Memory<false, Returns::Done> {};
struct CopyFromHost : Memory<false, Returns::StreamWasDone> {
};  // the copy itself may still be outstanding, from a staging buffer
struct CopyNull : Memory<false, Returns::Queued> {};
struct CopyAsync : Memory<false, Returns::Queued> {};
struct FillNull : Memory<true, Returns::Queued> {};
struct FillAsync : Memory<true, Returns::Queued> {};

// (where the address is stored, …)
struct Alloc {
  static constexpr bool kNeedsGpuActivity = false;
  template <class C, class... Args> static StreamState* enter(C c, const CallScope&, Args... args) {
    return stream_argument(c, args...);
  }
  template <class C, class Address, class Size, class... Rest>
  static void leave(C, const CallScope& scope, StreamState* stream, CUresult result, Address* address, Size size,
                    Rest... rest) {
    using Form = typename C::Form;
    const uint64_t bytes = Form::bytes(result, size, rest...);
    const bool made = result == CUDA_SUCCESS && address != nullptr;
    format::ContextId context{};
    format::PoolId pool{};
    if constexpr (Form::kOwner == form::Owner::Pool) {
      const CUstream handle = argument<CUstream>(rest...);
      if (made && is_captured(stream, handle)) [[unlikely]] {
        record_captured_node(scope, stream, handle);  // the memory belongs to the graph and to no pool
      } else if (made) {
        pool = Form::pool(stream, rest...);
      }
    } else if constexpr (Form::kOwner == form::Owner::Context) {
      context = context_id(nullptr);
    }
    if constexpr (Form::kHasFlags) record_arguments(scope, arguments_of(result, address, size, rest...));
    record_alloc(scope, C::kApi, made ? as_object(*address) : 0, bytes, stream, result, context, pool);
  }
};

// (where the address is stored, external memory, description with the size)
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

// (an address that the program has, its size, …)
struct Register {
  static constexpr bool kNeedsGpuActivity = false;
  template <class C, class... Args> static Nothing enter(C, const CallScope&, Args...) { return {}; }
  template <class C, class Address, class Size, class... Rest>
  static void leave(C, const CallScope& scope, Nothing, CUresult result, Address address, Size size, Rest... rest) {
    if constexpr (C::Form::kHasFlags) record_arguments(scope, arguments_of(result, address, size, rest...));
    record_alloc(scope, C::kApi, as_object(address), size, nullptr, result);
  }
};

// (where the handle is stored, …). The record has the handle in place of an address.
struct ArrayCreate {
  static constexpr bool kNeedsGpuActivity = false;
  template <class C, class... Args> static Nothing enter(C, const CallScope&, Args...) { return {}; }
  template <class C, class Array, class... Args>
  static void leave(C, const CallScope& scope, Nothing, CUresult result, Array* made, Args... args) {
    const bool ok = result == CUDA_SUCCESS && made != nullptr;
    record_alloc(scope, C::kApi, ok ? as_object(*made) : 0, ok ? C::Form::bytes(args...) : 0, nullptr, result,
                 context_id(nullptr));
  }
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
