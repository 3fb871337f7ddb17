// Which arguments of calls that are not frequent are recorded? Bytes that are moved, advised or made, and the target;
// flags of events, streams and memory; the file of code. A CallArguments record precedes the call's own record. A call
// without such arguments has none and costs no bytes. What a pointer of the program points to is read after the call
// succeeded. It runs in the program.
#pragma once

#include "preload/intercept/records/record_call.h"
#include "preload/lifecycle/call_scope.h"

#include <type_traits>

namespace prof::preload {

struct Arguments {
  uint32_t flags = 0;
  uint64_t bytes = 0;
  uint32_t target = 0;
  const char* file = nullptr;
  uint64_t count = 0;
};

void record_arguments(const CallScope& scope, const Arguments& said);

// Types of CUmemLocation. Older headers do not have all their names.
constexpr uint32_t kTargetDevice = 1, kTargetHost = 2, kTargetBits = 3;
constexpr uint32_t target_of(uint32_t type, int id) {
  return type == 0 ? 0 : (id < 0 ? 0 : static_cast<uint32_t>(id)) << kTargetBits | (type & 7);
}
constexpr uint32_t target_of(CUmemLocation location) {
  const auto type = static_cast<uint32_t>(location.type);
  return target_of(type, type == kTargetHost ? 0 : location.id);
}
constexpr uint32_t target_of(CUdevice device) {
  return device == CU_DEVICE_CPU ? target_of(kTargetHost, 0) : device < 0 ? 0 : target_of(kTargetDevice, device);
}

// One overload for each form of arguments. `result`: of the call.
//
// cuMemPrefetchAsync
inline Arguments arguments_of(CUresult, CUdeviceptr, size_t bytes, CUdevice to, CUstream) {
  return {0, bytes, target_of(to), nullptr};
}
inline Arguments arguments_of(CUresult, CUdeviceptr, size_t bytes, CUmemLocation to, unsigned flags, CUstream) {
  return {flags, bytes, target_of(to), nullptr};
}
// cuMemAdvise
inline Arguments arguments_of(CUresult, CUdeviceptr, size_t bytes, CUmem_advise advice, CUdevice for_whom) {
  return {static_cast<uint32_t>(advice), bytes, target_of(for_whom), nullptr};
}
inline Arguments arguments_of(CUresult, CUdeviceptr, size_t bytes, CUmem_advise advice, CUmemLocation for_whom) {
  return {static_cast<uint32_t>(advice), bytes, target_of(for_whom), nullptr};
}
// cuMemDiscardBatchAsync
inline Arguments arguments_of(CUresult result, CUdeviceptr*, const size_t* sizes, size_t count,
                              unsigned long long flags, CUstream) {
  Arguments said;
  said.flags = static_cast<uint32_t>(flags);
  said.count = count;
  for (size_t i = 0; result == CUDA_SUCCESS && sizes != nullptr && i < count; ++i) said.bytes += sizes[i];
  return said;
}
// cuMemPrefetchBatchAsync, cuMemDiscardAndPrefetchBatchAsync: the target, if there is only one.
inline Arguments arguments_of(CUresult result, CUdeviceptr* addresses, const size_t* sizes, size_t count,
                              const CUmemLocation* to, size_t*, size_t targets, unsigned long long flags,
                              CUstream stream) {
  Arguments said = arguments_of(result, addresses, sizes, count, flags, stream);
  if (result == CUDA_SUCCESS && to != nullptr && targets == 1) said.target = target_of(*to);
  return said;
}
// cuStreamAttachMemAsync
inline Arguments arguments_of(CUresult, CUstream, CUdeviceptr, size_t bytes, unsigned flags) {
  return {flags, bytes, 0, nullptr};
}
// cuMemCreate
inline Arguments arguments_of(CUresult result, CUmemGenericAllocationHandle*, size_t bytes,
                              const CUmemAllocationProp* how, unsigned long long flags) {
  const bool known = result == CUDA_SUCCESS && how != nullptr;
  return {static_cast<uint32_t>(flags), bytes, known ? target_of(how->location) : 0, nullptr};
}
// cuMemBatchDecompressAsync: the decompressed bytes.
inline Arguments arguments_of(CUresult result, CUmemDecompressParams* batch, size_t count, unsigned flags, size_t*,
                              CUstream) {
  Arguments said;
  said.flags = flags;
  said.count = count;
  for (size_t i = 0; result == CUDA_SUCCESS && batch != nullptr && i < count; ++i) said.bytes += batch[i].dstNumBytes;
  return said;
}
// cuMemSetAccess, cuMemPoolSetAccess: the target, if there is only one, and whether it may only read or also write.
inline Arguments arguments_of(CUresult result, CUdeviceptr, size_t bytes, const CUmemAccessDesc* access, size_t count) {
  if (result != CUDA_SUCCESS || access == nullptr || count != 1) return {0, bytes, 0, nullptr};
  return {static_cast<uint32_t>(access->flags), bytes, target_of(access->location), nullptr};
}
inline Arguments arguments_of(CUresult result, CUmemoryPool, const CUmemAccessDesc* access, size_t count) {
  return arguments_of(result, CUdeviceptr{0}, size_t{0}, access, count);
}
// cuMemPoolTrimTo: the bytes that the pool may keep.
inline Arguments arguments_of(CUresult, CUmemoryPool, size_t bytes) { return {0, bytes, 0, nullptr}; }
// cuMemPoolSetAttribute: the attribute and its value. The first three attributes are an int, the others have 64 bits.
inline Arguments arguments_of(CUresult result, CUmemoryPool, CUmemPool_attribute which, void* value) {
  Arguments said{static_cast<uint32_t>(which), 0, 0, nullptr};
  const size_t size = which <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES ? sizeof(int) : sizeof said.bytes;
  if (result == CUDA_SUCCESS && value != nullptr) __builtin_memcpy(&said.bytes, value, size);
  return said;
}
// cuCtxSetLimit
inline Arguments arguments_of(CUresult, CUlimit which, size_t value) {
  return {static_cast<uint32_t>(which), value, 0, nullptr};
}
// cuCtxSetFlags, cuDevicePrimaryCtxSetFlags
inline Arguments arguments_of(CUresult, unsigned flags) { return {flags, 0, 0, nullptr}; }
inline Arguments arguments_of(CUresult, CUdevice device, unsigned flags) {
  return {flags, 0, target_of(device), nullptr};
}
// cuStreamWaitEvent
inline Arguments arguments_of(CUresult, CUstream, CUevent, unsigned flags) { return {flags, 0, 0, nullptr}; }
// cuStreamSetAttribute: the attribute.
inline Arguments arguments_of(CUresult, CUstream, CUstreamAttrID which, const CUstreamAttrValue*) {
  return {static_cast<uint32_t>(which), 0, 0, nullptr};
}
// cuLinkAddData, cuLinkAddFile: the type of the code, its bytes, its name.
template <class... Options>
inline Arguments arguments_of(CUresult, CUlinkState, CUjitInputType type, void*, size_t bytes, const char* name,
                              Options...) {
  return {static_cast<uint32_t>(type), bytes, 0, name};
}
template <class... Options>
inline Arguments arguments_of(CUresult, CUlinkState, CUjitInputType type, const char* file, Options...) {
  return {static_cast<uint32_t>(type), 0, 0, file};
}
// cuGraphDebugDotPrint
inline Arguments arguments_of(CUresult, CUgraph, const char* file, unsigned flags) { return {flags, 0, 0, file}; }
// cuMemPoolCreate: the location of its memory, its maximum bytes (since CUDA 12.2), how it can be shared.
template <class Props>
requires std::is_same_v<Props, CUmemPoolProps>
inline Arguments arguments_of(CUresult result, CUmemoryPool*, const Props* how) {
  if (result != CUDA_SUCCESS || how == nullptr) return {};
  Arguments said{static_cast<uint32_t>(how->handleTypes), 0, target_of(how->location), nullptr};
  if constexpr (requires { how->maxSize; }) said.bytes = how->maxSize;
  return said;
}
// cuMemPoolImportFromShareableHandle
inline Arguments arguments_of(CUresult, CUmemoryPool*, void*, CUmemAllocationHandleType how, unsigned long long) {
  return {static_cast<uint32_t>(how), 0, 0, nullptr};
}
// cuEventCreate
inline Arguments arguments_of(CUresult, CUevent*, unsigned flags) { return {flags, 0, 0, nullptr}; }
// cuStreamCreate, cuStreamCreateWithPriority (the stream's definition has its priority)
inline Arguments arguments_of(CUresult, CUstream*, unsigned flags) { return {flags, 0, 0, nullptr}; }
inline Arguments arguments_of(CUresult, CUstream*, unsigned flags, int) { return {flags, 0, 0, nullptr}; }
// cuModuleLoad, cuLibraryLoadFromFile
inline Arguments arguments_of(CUresult, CUmodule*, const char* file) { return {0, 0, 0, file}; }
template <class... Options> inline Arguments arguments_of(CUresult, CUlibrary*, const char* file, Options...) {
  return {0, 0, 0, file};
}
// cuMemHostAlloc, cuMemAllocManaged, cuMemHostRegister: the record of the allocation has the bytes.
inline Arguments arguments_of(CUresult, void**, size_t, unsigned flags) { return {flags, 0, 0, nullptr}; }
inline Arguments arguments_of(CUresult, CUdeviceptr*, size_t, unsigned flags) { return {flags, 0, 0, nullptr}; }
inline Arguments arguments_of(CUresult, void*, size_t, unsigned flags) { return {flags, 0, 0, nullptr}; }

namespace topic {

// Like Call and Create, with the record of the arguments.
struct CallSaying : Call {
  static constexpr bool kSays = true;
  // For a batch: its first address. Its flags have the same type as an address and must not be taken for one.
  template <class... Rest> static uint64_t object(CUresult result, CUdeviceptr* addresses, Rest...) {
    return result == CUDA_SUCCESS && addresses != nullptr ? *addresses : 0;
  }
  template <class First, class... Rest> static uint64_t object(CUresult, First first, Rest... rest) {
    return object_of(first, rest...);
  }
};
struct CreateSaying : Create {
  static constexpr bool kSays = true;
};

}  // namespace topic
}  // namespace prof::preload
